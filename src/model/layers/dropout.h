// Training zeroes each element with probability p and multiplies the others by 1 / (1 - p); evaluation
// changes nothing. Which elements that are is drawn anew for every example in every epoch.
#pragma once
#include "base/error.h"
#include "model/layer_inputs.h"
#include "model/parameter.h"

namespace lockstep::model {

struct Dropout {
  static constexpr std::string_view kName = "dropout";
  static constexpr int kInputs = 1;
  double p = 0.5;  // from 0, and below 1

  Shape output(const LayerInputs& in) const {
    const bool is_probability = p >= 0 && p < 1;  // and not NaN
    if (!is_probability) {
      throw Error(
          Fault::usage,
          "layer {} drops elements of its input {} with probability {}; it must be at least 0 and below 1",
          in.layer, to_string(in), p);
    }
    return in.shape();
  }
  static std::vector<ParameterSpec> parameters(const Shape&) { return {}; }
  std::string words() const { return fmt::format("dropout {}", p); }
};

}  // namespace lockstep::model
