// Training zeroes each element with probability p and multiplies the others by 1 / (1 - p); evaluation
// changes nothing. Which elements that are is drawn anew for every example in every epoch.
#pragma once
#include "model/layer_inputs.h"
#include "model/parameter.h"

namespace lockstep::model {

struct Dropout {
  static constexpr int kInputs = 1;
  double p = 0.5;  // from 0, and below 1

  Shape output(const LayerInputs& in) const;
  static std::vector<ParameterSpec> parameters(const Shape&) { return {}; }
};

}  // namespace lockstep::model
