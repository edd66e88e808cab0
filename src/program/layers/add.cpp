#include "program/layers/add.h"

#include "program/builder.h"

namespace lockstep::program {

Signature Add::signature() { return {{Role::activation, Role::activation}, {Role::activation}}; }

void AddNode::forward(Builder& builder, const Node& node) {
  const BufferId y = builder.add_output(node);
  builder.emit({Add{}, node.name, {builder.input(node, 0), builder.input(node, 1)}, {y}});
}

void AddNode::backward(Builder& builder, const Node& node) {
  for (std::size_t operand = 0; operand < node.inputs.size(); ++operand) {
    if (builder.wants_gradient(node.inputs[operand]))
      builder.add_gradient(node, operand, builder.gradient(node));
  }
}

}  // namespace lockstep::program
