#include "model/layers/linear.h"

#include "base/error.h"

namespace lockstep::model {

Shape Linear::output(const LayerInputs& in) const {
  check_count(in, "output units", out_units);
  if (!in.shape().flat()) {
    throw Error(Fault::usage, "layer {} takes a flat input, got {}; put a flatten before it", in.layer,
                to_string(in));
  }
  return {out_units, 1, 1};
}

std::vector<ParameterSpec> Linear::parameters(const Shape& in) const {
  const Fans fans{in.channels, out_units};
  std::vector<ParameterSpec> specs{{ParameterRole::weight, {out_units, in.channels}, fans, initial_weight}};
  if (bias) specs.push_back({ParameterRole::bias, {out_units}, fans, initial_bias});
  return specs;
}

std::string Linear::words() const {
  return fmt::format("linear {}, {}", out_units, words_of(initial_weight, bias, initial_bias));
}

}  // namespace lockstep::model
