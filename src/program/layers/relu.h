// Relu that stands alone; behind a convolution or a batch norm it is fused.
#pragma once
#include "program/geometry.h"
#include "program/instruction_traits.h"
#include "program/layer_place.h"

namespace lockstep::model {
struct Relu;
}  // namespace lockstep::model

namespace lockstep::program {

class Builder;
struct BatchNormNode;
struct ConvolutionNode;
struct Node;

// In brackets: inputs -> outputs.
struct ReluForward {  // [x] -> [y]
  static constexpr InstructionTraits kTraits{"relu", Over::packs, WorkKind::layers};

  static Signature signature();
  static std::string sizes() { return {}; }
};
struct ReluBackward {  // [dy, y] -> [dx], perhaps over dy
  static constexpr InstructionTraits kTraits{"relu backward", Over::packs, WorkKind::layers,
                                             InPlace::first_input};

  static Signature signature();
  static std::string sizes() { return {}; }
};

struct ReluNode {
  static constexpr bool kTrained = false, kElementwise = true, kJoined = false;

  static ReluNode of(const model::Relu&, const LayerPlace&) { return {}; }
  static Shape needed_input(const Shape& output, const Shape&) { return output; }
  static void resize(const Shape&, const Shape&) {}
  static bool join(ConvolutionNode& before);
  static bool join(BatchNormNode& before);

  static void forward(Builder& builder, const Node& node);
  static void backward(Builder& builder, const Node& node);
};

}  // namespace lockstep::program
