// Average and maximum pool.
#pragma once
#include "program/geometry.h"
#include "program/instruction_traits.h"
#include "program/layer_place.h"

namespace lockstep::model {
struct AvgPool;
struct GlobalAvgPool;
struct MaxPool;
}  // namespace lockstep::model

namespace lockstep::program {

class Builder;
struct BatchNormNode;
struct ConvolutionNode;
struct Node;

// In brackets: inputs -> outputs.
struct PoolForward {  // [x] -> [y]
  static constexpr InstructionTraits kTraits{"pool", Over::packs, WorkKind::layers};
  Pool pool;

  static Signature signature();
  std::string sizes() const { return to_string(pool); }
};
struct PoolBackward {  // [dy] or, for a maximum, [dy, x] -> [dx]
  static constexpr InstructionTraits kTraits{"pool backward", Over::packs, WorkKind::layers};
  Pool pool;

  static Signature signature();
  std::string sizes() const { return to_string(pool); }
};
struct Unpool {  // [dy, mask] -> [dx]: back through an average pool and the relu before it
  static constexpr InstructionTraits kTraits{"unpool", Over::packs, WorkKind::layers};
  Pool pool;

  static Signature signature();
  std::string sizes() const { return to_string(pool); }
};

struct PoolNode {
  static constexpr bool kTrained = false, kElementwise = false, kJoined = false;
  Pool pool;

  static PoolNode of(const model::AvgPool& layer, const LayerPlace& place);
  static PoolNode of(const model::MaxPool& layer, const LayerPlace& place);
  static PoolNode of(const model::GlobalAvgPool& layer, const LayerPlace& place);
  Shape needed_input(const Shape& output, const Shape& whole) const;
  void resize(const Shape& input, const Shape& output);
  bool join(ConvolutionNode& before) const;
  static bool join(BatchNormNode&) { return false; }

  void forward(Builder& builder, const Node& node) const;
  void backward(Builder& builder, const Node& node) const;
};

}  // namespace lockstep::program
