// Flatten takes no instruction: [C][H][W] and [C*H*W] are the same numbers in the same order.
#pragma once
#include "program/geometry.h"

namespace lockstep::program {

class Builder;
struct AddNode;
struct BatchNormNode;
struct ConvolutionNode;
struct Node;

struct FlattenNode {
  static constexpr bool kTrained = false, kElementwise = false, kJoined = false;

  static Shape needed_input(const Shape&, const Shape& whole) { return whole; }
  static void resize(const Shape&, const Shape&) {}
  static bool join(ConvolutionNode&) { return false; }
  static bool join(BatchNormNode&) { return false; }
  static bool join(AddNode&) { return false; }

  static void forward(Builder& builder, const Node& node);
  static void backward(Builder& builder, const Node& node);
};

}  // namespace lockstep::program
