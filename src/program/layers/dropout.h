// Dropout. An evaluation takes no instruction for it: there its output is its input.
#pragma once
#include <cstdint>
#include <string_view>

#include "program/geometry.h"
#include "program/instruction_traits.h"
#include "program/layer_place.h"

namespace lockstep::model {
struct Dropout;
}  // namespace lockstep::model

namespace lockstep::program {

class Builder;
struct BatchNormNode;
struct ConvolutionNode;
struct Node;

// [x] -> [y] or, going back, [dy] -> [dx], perhaps in place. Both draw the same words.
struct Dropout {
  static constexpr InstructionTraits kTraits{"dropout", Over::packs, WorkKind::layers, InPlace::any_input};
  std::uint32_t stream = 0;
  std::uint32_t threshold = 0;  // a word's upper 24 bits, as a number, keep the element from here on
  float scale = 1;              // of what is kept
  Shape whole = {}, kept = {};  // of the untrimmed layer, whose elements are counted, and of the buffers

  static Signature signature();
  std::string sizes() const { return to_string(kept); }
};

struct DropoutNode {
  static constexpr bool kTrained = false, kElementwise = true, kJoined = false;
  Dropout dropout;

  // `whole`: the shape of the untrimmed layer. p is in [0, 1).
  DropoutNode(std::string_view layer, double p, const Shape& whole);

  static DropoutNode of(const model::Dropout& layer, const LayerPlace& place);
  std::uint32_t random_stream() const { return dropout.stream; }  // lower() sees that no two are equal

  static Shape needed_input(const Shape& output, const Shape&) { return output; }
  void resize(const Shape&, const Shape& output) { dropout.kept = output; }
  static bool join(ConvolutionNode&) { return false; }
  static bool join(BatchNormNode&) { return false; }

  void forward(Builder& builder, const Node& node) const;
  void backward(Builder& builder, const Node& node) const;
};

}  // namespace lockstep::program
