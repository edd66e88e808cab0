// The residual sum, with the relu and the batch norm that are fused into it.
#pragma once
#include "program/geometry.h"

namespace lockstep::program {

class Builder;
struct BatchNormNode;
struct ConvolutionNode;
struct Node;

struct AddNode {
  static constexpr bool kTrained = false, kElementwise = true, kJoined = true;
  bool relu = false;  // behind it
  int normed = -1;    // the operand that is a batch norm computed here (BatchNormNode::in_sum); -1: none is

  static Shape needed_input(const Shape& output, const Shape&) { return output; }
  static void resize(const Shape&, const Shape&) {}
  static bool join(ConvolutionNode&) { return false; }
  static bool join(BatchNormNode&) { return false; }
  static bool join(AddNode&) { return false; }

  void forward(Builder& builder, const Node& node) const;
  // Both operands get the same gradient, in the same buffer.
  void backward(Builder& builder, const Node& node) const;
};

}  // namespace lockstep::program
