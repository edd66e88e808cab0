#include "program/layers/dropout.h"

#include <cmath>
#include <string>

#include "base/random.h"
#include "model/layers/dropout.h"
#include "program/builder.h"

namespace lockstep::program {

Signature Dropout::signature() { return {{Role::activation}, {Role::activation}}; }

DropoutNode::DropoutNode(std::string_view layer, double p, const Shape& whole)
    : dropout{.stream = stream_id("dropout:" + std::string(layer)),
              .threshold = static_cast<std::uint32_t>(std::ceil(p * 0x1p24)),
              .scale = static_cast<float>(1 / (1 - p)),
              .whole = whole,
              .kept = whole} {}

DropoutNode DropoutNode::of(const model::Dropout& layer, const LayerPlace& place) {
  return {place.name, layer.p, place.output};
}

void DropoutNode::forward(Builder& builder, const Node& node) const {
  if (builder.program().purpose == Purpose::evaluation) {
    builder.set_output(node, builder.input(node));
    return;
  }
  const BufferId y = builder.add_output(node);
  builder.emit({dropout, node.name, {builder.input(node)}, {y}});
}

void DropoutNode::backward(Builder& builder, const Node& node) const {
  const BufferId dy = builder.gradient(node), dx = builder.overwritable(dy, node.name + ".dx");
  builder.emit({dropout, node.name, {dy}, {dx}});
  builder.add_gradient(node, 0, dx);
}

}  // namespace lockstep::program
