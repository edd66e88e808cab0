// The mean of each window.
#pragma once
#include "model/layer_inputs.h"
#include "model/parameter.h"

namespace lockstep::model {

struct AvgPool {
  static constexpr std::string_view kName = "pool";
  static constexpr int kInputs = 1;
  Extent window;
  Extent stride;
  Extent padding{0, 0};

  Shape output(const LayerInputs& in) const;
  static std::vector<ParameterSpec> parameters(const Shape&) { return {}; }
  std::string words() const;
};

}  // namespace lockstep::model
