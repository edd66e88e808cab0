// A convolution, or a linear layer, with what is fused into it.
#pragma once
#include "program/geometry.h"

namespace lockstep::program {

class Builder;
struct AddNode;
struct BatchNormNode;
struct Node;

struct ConvolutionNode {
  static constexpr bool kTrained = true;       // it has parameters
  static constexpr bool kElementwise = false;  // an output element takes one element of each input
  static constexpr bool kJoined = true;        // a node behind it may become a part of it
  Convolution convolution;
  int weight = -1, bias = -1;  // indices in model::parameters_of; bias -1: it has none
  Epilogue epilogue = Epilogue::none;
  Pool pool{};  // of relu_average_pool

  // The part of `whole`, the untrimmed input, that `output` takes.
  Shape needed_input(const Shape& output, const Shape& whole) const;
  void resize(const Shape& input, const Shape& output);
  // Becomes a part of the node before, if the pair can run as one.
  static bool join(ConvolutionNode&) { return false; }
  static bool join(BatchNormNode&) { return false; }
  static bool join(AddNode&) { return false; }

  void forward(Builder& builder, const Node& node) const;
  void backward(Builder& builder, const Node& node) const;
};

}  // namespace lockstep::program
