// Average and maximum pool.
#pragma once
#include "program/geometry.h"

namespace lockstep::program {

class Builder;
struct AddNode;
struct BatchNormNode;
struct ConvolutionNode;
struct Node;

struct PoolNode {
  static constexpr bool kTrained = false, kElementwise = false, kJoined = false;
  Pool pool;

  Shape needed_input(const Shape& output, const Shape& whole) const;
  void resize(const Shape& input, const Shape& output);
  bool join(ConvolutionNode& before) const;
  static bool join(BatchNormNode&) { return false; }
  static bool join(AddNode&) { return false; }

  void forward(Builder& builder, const Node& node) const;
  void backward(Builder& builder, const Node& node) const;
};

}  // namespace lockstep::program
