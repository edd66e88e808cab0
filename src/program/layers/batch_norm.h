// Batch norm, with the relu that is fused into it.
#pragma once
#include "program/geometry.h"
#include "program/instruction_traits.h"
#include "program/layer_place.h"
#include "program/pack_groups.h"

namespace lockstep::model {
struct BatchNorm;
}  // namespace lockstep::model

namespace lockstep::program {

class Builder;
struct ConvolutionNode;
struct Node;

// Batch norm (docs/arithmetic.md). For each channel, statistics hold of every pack and of every group
//   triples       number of values, their mean, the sum of their squared deviations from it
//   sums          of dy (dbeta), of dy * h (dgamma)
// and of every group what the packs of the group are computed with
//   coefficients  mean, r, scale, shift
//   factors       a, b, e
// each number for all channels before the next one: [pack or group][number][channel].
struct NormStatistics {  // over packs: [x] -> [triples by pack]
  static constexpr InstructionTraits kTraits{"norm statistics", Over::packs, WorkKind::layers};
  Shape shape;

  static Signature signature();
  std::string sizes() const;
};
struct NormCoefficients {  // over elements: [triples by group, gamma, beta] -> [coefficients]
  static constexpr InstructionTraits kTraits{"norm coefficients", Over::elements, WorkKind::layers};
  int channels = 0;
  float eps = 0;
  int first = 0, last = 1;  // groups

  static Signature signature();
  std::string sizes() const;
};
struct RunningCoefficients {  // over elements: [running mean, running var, gamma, beta] -> [coefficients],
                              // one group
  static constexpr InstructionTraits kTraits{"running coefficients", Over::elements, WorkKind::layers};
  int channels = 0;
  float eps = 0;

  static Signature signature();
  static std::string sizes() { return {}; }
};
struct NormForward {  // over packs: [x, coefficients] -> [y]
  static constexpr InstructionTraits kTraits{"norm", Over::packs, WorkKind::layers, InPlace::first_input};
  Shape shape;
  PackGroups groups;
  bool relu = false;  // y is behind a relu

  static Signature signature();
  std::string sizes() const;
};
// Over packs: [dy, x, coefficients, and y if relu] -> [sums by pack, gamma partial, beta partial].
// With relu, dy counts where y > 0, else +0.
struct NormSums {
  static constexpr InstructionTraits kTraits{"norm sums", Over::packs, WorkKind::layers};
  Shape shape;
  PackGroups groups;
  bool relu = false;

  Signature signature() const;
  std::string sizes() const;
};
struct NormFactors {  // over elements: [triples by group, coefficients, sums by group] -> [factors]
  static constexpr InstructionTraits kTraits{"norm factors", Over::elements, WorkKind::layers};
  int channels = 0;
  int first = 0, last = 1;  // groups

  static Signature signature();
  std::string sizes() const;
};
struct NormInputGradient {  // over packs: [dy, x, coefficients, factors, and y if relu] -> [dx], perhaps over
                            // dy
  static constexpr InstructionTraits kTraits{"norm input gradient", Over::packs, WorkKind::layers,
                                             InPlace::first_input};
  Shape shape;
  PackGroups groups;
  bool relu = false;

  Signature signature() const;
  std::string sizes() const;
};
// Over elements: [verdict, triples by group, running mean, running var] -> [running mean, running var];
// nothing if the verdict is 0. Takes all groups, in order.
struct NormRunning {
  static constexpr InstructionTraits kTraits{"running statistics", Over::elements, WorkKind::layers};
  int channels = 0;
  float momentum = 0;
  int groups = 1;

  static Signature signature();
  std::string sizes() const;
};

struct BatchNormNode {
  static constexpr bool kTrained = true, kElementwise = true, kJoined = true;
  Shape shape;               // whole: the statistics are those of all positions
  int first_parameter = -1;  // gamma, beta, running mean, running variance: indices in model::parameters_of
  int group_packs = 0;       // consecutive ones that share statistics; 0: all
  float eps = 0, momentum = 0;
  bool relu = false;  // behind it

  static BatchNormNode of(const model::BatchNorm& layer, const LayerPlace& place);
  static Shape needed_input(const Shape&, const Shape& whole) { return whole; }
  static void resize(const Shape&, const Shape&) {}
  static bool join(ConvolutionNode&) { return false; }
  static bool join(BatchNormNode&) { return false; }

  void forward(Builder& builder, const Node& node) const;
  void backward(Builder& builder, const Node& node) const;
};

}  // namespace lockstep::program
