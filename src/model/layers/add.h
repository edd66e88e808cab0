// The sum of two values of the same shape, element by element: a residual connection.
#pragma once
#include "model/layer_inputs.h"
#include "model/parameter.h"

namespace lockstep::model {

struct Add {
  static constexpr std::string_view kName = "add";
  static constexpr int kInputs = 2;

  static Shape output(const LayerInputs& in);
  static std::vector<ParameterSpec> parameters(const Shape&) { return {}; }
  static std::string words() { return "add"; }
};

}  // namespace lockstep::model
