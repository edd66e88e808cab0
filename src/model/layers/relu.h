// What is positive passes; everything else becomes 0.
#pragma once
#include "model/layer_inputs.h"
#include "model/parameter.h"

namespace lockstep::model {

struct Relu {
  static constexpr std::string_view kName = "relu";
  static constexpr int kInputs = 1;

  static Shape output(const LayerInputs& in) { return in.shape(); }
  static std::vector<ParameterSpec> parameters(const Shape&) { return {}; }
  static std::string words() { return "relu"; }
};

}  // namespace lockstep::model
