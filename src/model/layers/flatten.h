// An image as one vector, in order (channel, y, x).
#pragma once
#include "model/layer_inputs.h"
#include "model/parameter.h"

namespace lockstep::model {

struct Flatten {
  static constexpr std::string_view kName = "flatten";
  static constexpr int kInputs = 1;

  static Shape output(const LayerInputs& in) { return {in.shape().elements(), 1, 1}; }
  static std::vector<ParameterSpec> parameters(const Shape&) { return {}; }
  static std::string words() { return "flatten"; }
};

}  // namespace lockstep::model
