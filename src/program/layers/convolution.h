// A convolution, or a linear layer, with what is fused into it.
#pragma once
#include "program/geometry.h"
#include "program/instruction_traits.h"
#include "program/layer_place.h"

namespace lockstep::model {
struct Conv2d;
struct Linear;
}  // namespace lockstep::model

namespace lockstep::program {

class Builder;
struct BatchNormNode;
struct Node;

// In brackets: inputs -> outputs.
struct Prepare {  // [parameter] -> [prepared]
  static constexpr InstructionTraits kTraits{"prepare", Over::elements, WorkKind::rest};
  enum class Use {
    forward,
    input_gradient,
    frequencies,  // of fast convolution, for both
  };
  Convolution convolution;
  Use use = Use::forward;

  static Signature signature();
  std::string sizes() const;
};
struct Forward {  // [x, prepared] or, with a bias, [x, prepared, bias] -> [y] or, pooled, [y, mask]
  static constexpr InstructionTraits kTraits{"forward", Over::packs, WorkKind::products};
  Convolution convolution;
  Epilogue epilogue = Epilogue::none;

  static Signature signature();
  std::string sizes() const { return to_string(convolution); }
};
struct InputGradient {  // [dy, prepared] -> [dx]
  static constexpr InstructionTraits kTraits{"input gradient", Over::packs, WorkKind::products};
  Convolution convolution;

  static Signature signature();
  std::string sizes() const { return to_string(convolution); }
};
struct WeightGradient {  // [x, dy] -> [weight partial] or, with a bias, [weight partial, bias partial]
  static constexpr InstructionTraits kTraits{"weight gradient", Over::packs, WorkKind::products};
  Convolution convolution;

  static Signature signature();
  std::string sizes() const { return to_string(convolution); }
};
struct UnpoolWeightGradient {  // [x, dy, mask] -> the same: dy is never written out
  static constexpr InstructionTraits kTraits{"unpool + weight gradient", Over::packs, WorkKind::products};
  Convolution convolution;
  Pool pool;

  static Signature signature();
  std::string sizes() const { return to_string(convolution); }
};

struct ConvolutionNode {
  static constexpr bool kTrained = true;       // it has parameters
  static constexpr bool kElementwise = false;  // an output element takes one element of each input
  static constexpr bool kJoined = true;        // a node behind it may become a part of it
  Convolution convolution;
  int weight = -1, bias = -1;  // indices in model::parameters_of; bias -1: it has none
  Epilogue epilogue = Epilogue::none;
  Pool pool{};  // of relu_average_pool

  static ConvolutionNode of(const model::Conv2d& layer, const LayerPlace& place);
  static ConvolutionNode of(const model::Linear& layer, const LayerPlace& place);
  // The part of `whole`, the untrimmed input, that `output` takes.
  Shape needed_input(const Shape& output, const Shape& whole) const;
  void resize(const Shape& input, const Shape& output);
  // Becomes a part of the node before, if the pair can run as one.
  static bool join(ConvolutionNode&) { return false; }
  static bool join(BatchNormNode&) { return false; }

  void forward(Builder& builder, const Node& node) const;
  void backward(Builder& builder, const Node& node) const;
};

}  // namespace lockstep::program
