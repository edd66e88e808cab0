// The residual sum.
#pragma once
#include "program/geometry.h"
#include "program/instruction_traits.h"
#include "program/layer_place.h"

namespace lockstep::model {
struct Add;
}  // namespace lockstep::model

namespace lockstep::program {

class Builder;
struct BatchNormNode;
struct ConvolutionNode;
struct Node;

// [a, b] -> [a + b], perhaps in place: a residual sum, or gradients that meet at a value.
struct Add {
  static constexpr InstructionTraits kTraits{"add", Over::packs, WorkKind::layers, InPlace::any_input};

  static Signature signature();
  static std::string sizes() { return {}; }
};

struct AddNode {
  static constexpr bool kTrained = false, kElementwise = true, kJoined = false;

  static AddNode of(const model::Add&, const LayerPlace&) { return {}; }
  static Shape needed_input(const Shape& output, const Shape&) { return output; }
  static void resize(const Shape&, const Shape&) {}
  static bool join(ConvolutionNode&) { return false; }
  static bool join(BatchNormNode&) { return false; }

  static void forward(Builder& builder, const Node& node);
  // Both operands get the same gradient, in the same buffer.
  static void backward(Builder& builder, const Node& node);
};

}  // namespace lockstep::program
