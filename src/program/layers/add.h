// The residual sum.
#pragma once
#include "program/geometry.h"

namespace lockstep::program {

class Builder;
struct BatchNormNode;
struct ConvolutionNode;
struct Node;

struct AddNode {
  static constexpr bool kTrained = false, kElementwise = true, kJoined = false;

  static Shape needed_input(const Shape& output, const Shape&) { return output; }
  static void resize(const Shape&, const Shape&) {}
  static bool join(ConvolutionNode&) { return false; }
  static bool join(BatchNormNode&) { return false; }

  static void forward(Builder& builder, const Node& node);
  // Both operands get the same gradient, in the same buffer.
  static void backward(Builder& builder, const Node& node);
};

}  // namespace lockstep::program
