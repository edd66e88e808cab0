// Batch normalisation: each channel of a group of examples gets mean 0 and variance 1, then a scale and a
// shift that are trained. A network that is trained uses the statistics of the group, an evaluation running
// ones.
#pragma once
#include "model/layer_inputs.h"
#include "model/parameter.h"

namespace lockstep::model {

struct BatchNorm {
  static constexpr std::string_view kName = "norm";
  static constexpr int kInputs = 1;
  int ghost = 0;  // consecutive examples that share statistics, whole packs; 0: the whole minibatch
  double eps = 1e-5;
  double momentum = 0.1;  // the part of a running statistic that a group replaces

  Shape output(const LayerInputs& in) const;
  static std::vector<ParameterSpec> parameters(const Shape& in);
  std::string words() const;
};

}  // namespace lockstep::model
