// Batch norm, with the relu that is fused into it.
#pragma once
#include "program/geometry.h"

namespace lockstep::program {

class Builder;
struct AddNode;
struct ConvolutionNode;
struct Node;

struct BatchNormNode {
  static constexpr bool kTrained = true, kElementwise = true, kJoined = true;
  Shape shape;               // whole: the statistics are those of all positions
  int first_parameter = -1;  // gamma, beta, running mean, running variance: indices in model::parameters_of
  int group_packs = 0;       // consecutive ones that share statistics; 0: all
  float eps = 0, momentum = 0;
  bool relu = false;    // behind it
  bool in_sum = false;  // y is computed by the residual sum that reads it, and by nothing else

  static Shape needed_input(const Shape&, const Shape& whole) { return whole; }
  static void resize(const Shape&, const Shape&) {}
  static bool join(ConvolutionNode&) { return false; }
  static bool join(BatchNormNode&) { return false; }
  static bool join(AddNode&) { return false; }

  void forward(Builder& builder, const Node& node) const;
  void backward(Builder& builder, const Node& node) const;
};

}  // namespace lockstep::program
