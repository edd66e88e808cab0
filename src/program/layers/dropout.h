// Dropout. An evaluation takes no instruction for it: there its output is its input.
#pragma once
#include <string_view>

#include "program/program.h"

namespace lockstep::program {

class Builder;
struct AddNode;
struct BatchNormNode;
struct ConvolutionNode;
struct Node;

struct DropoutNode {
  static constexpr bool kTrained = false, kElementwise = true, kJoined = false;
  Dropout dropout;

  // `whole`: the shape of the untrimmed layer. p is in [0, 1).
  DropoutNode(std::string_view layer, double p, const Shape& whole);

  static Shape needed_input(const Shape& output, const Shape&) { return output; }
  void resize(const Shape&, const Shape& output) { dropout.kept = output; }
  static bool join(ConvolutionNode&) { return false; }
  static bool join(BatchNormNode&) { return false; }
  static bool join(AddNode&) { return false; }

  void forward(Builder& builder, const Node& node) const;
  void backward(Builder& builder, const Node& node) const;
};

}  // namespace lockstep::program
