#include "program/layers/add.h"

#include "program/builder.h"

namespace lockstep::program {

void AddNode::forward(Builder& builder, const Node& node) const {
  if (normed < 0) {
    const BufferId y = builder.add_output(node);
    builder.emit({Add{relu}, node.name, {builder.input(node, 0), builder.input(node, 1)}, {y}});
    return;
  }
  // Addition commutes, so it does not matter which of the two operands the batch norm is.
  const auto operand = static_cast<std::size_t>(normed);
  Instruction norm = builder.postponed(node.inputs[operand]);
  std::get<NormForward>(norm.operation).relu = relu;
  norm.layer += "+" + node.name;
  norm.inputs.push_back(builder.input(node, 1 - operand));
  norm.outputs = {builder.add_output(node)};
  builder.emit(std::move(norm));
}

void AddNode::backward(Builder& builder, const Node& node) const {
  const BufferId dy = relu ? builder.gradient_before_relu(node) : builder.gradient(node);
  for (std::size_t operand = 0; operand < node.inputs.size(); ++operand) {
    if (builder.wants_gradient(node.inputs[operand])) builder.add_gradient(node, operand, dy);
  }
}

}  // namespace lockstep::program
