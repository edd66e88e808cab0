// Relu that stands alone; behind a convolution, a batch norm or a residual sum it is fused.
#pragma once
#include "program/geometry.h"

namespace lockstep::program {

class Builder;
struct AddNode;
struct BatchNormNode;
struct ConvolutionNode;
struct Node;

struct ReluNode {
  static constexpr bool kTrained = false, kElementwise = true, kJoined = false;

  static Shape needed_input(const Shape& output, const Shape&) { return output; }
  static void resize(const Shape&, const Shape&) {}
  static bool join(ConvolutionNode& before);
  static bool join(BatchNormNode& before);
  static bool join(AddNode& before);

  static void forward(Builder& builder, const Node& node);
  static void backward(Builder& builder, const Node& node);
};

}  // namespace lockstep::program
