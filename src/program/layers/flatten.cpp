#include "program/layers/flatten.h"

#include "program/builder.h"

namespace lockstep::program {

void FlattenNode::forward(Builder& builder, const Node& node) {
  builder.set_output(node, builder.input(node));
}

void FlattenNode::backward(Builder& builder, const Node& node) {
  builder.add_gradient(node, 0, builder.gradient(node));
}

}  // namespace lockstep::program
