// Every output unit from every input unit, usually with a bias for each output unit.
#pragma once
#include "model/layer_inputs.h"
#include "model/parameter.h"

namespace lockstep::model {

struct Linear {
  static constexpr std::string_view kName = "linear";
  static constexpr int kInputs = 1;
  int out_units = 0;
  bool bias = true;
  std::optional<InitialValues> initial_weight = {}, initial_bias = {};

  Shape output(const LayerInputs& in) const;
  std::vector<ParameterSpec> parameters(const Shape& in) const;
  std::string words() const;
};

}  // namespace lockstep::model
