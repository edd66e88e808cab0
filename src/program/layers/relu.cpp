#include "program/layers/relu.h"

#include "program/builder.h"

namespace lockstep::program {

bool ReluNode::join(ConvolutionNode& before) {
  if (before.epilogue != Epilogue::none) return false;
  before.epilogue = Epilogue::relu;
  return true;
}

bool ReluNode::join(BatchNormNode& before) {
  if (before.relu) return false;
  before.relu = true;
  return true;
}

bool ReluNode::join(AddNode& before) {
  if (before.relu) return false;
  before.relu = true;
  return true;
}

void ReluNode::forward(Builder& builder, const Node& node) {
  const BufferId y = builder.add_output(node);
  builder.emit({ReluForward{}, node.name, {builder.input(node)}, {y}});
}

void ReluNode::backward(Builder& builder, const Node& node) {
  builder.add_gradient(node, 0, builder.gradient_before_relu(node));
}

}  // namespace lockstep::program
