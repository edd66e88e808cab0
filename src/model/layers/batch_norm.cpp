#include "model/layers/batch_norm.h"

#include "arithmetic/pack.h"
#include "base/error.h"

namespace lockstep::model {

Shape BatchNorm::output(const LayerInputs& in) const {
  const auto refuse = [&](std::string_view what, double value, std::string_view expected) {
    throw Error(Fault::usage, "layer {} has {} {} on its input {}; it must be {}", in.layer, what, value,
                to_string(in), expected);
  };
  if (ghost < 0 || ghost % arithmetic::kPack != 0)
    refuse("ghost", ghost, "a multiple of 16 examples, or 0 for the whole minibatch");
  const bool eps_fits = eps >= 1e-30 && eps <= 1, momentum_fits = momentum >= 0 && momentum <= 1;  // nor NaN
  if (!eps_fits) refuse("eps", eps, "between 1e-30 and 1");
  if (!momentum_fits) refuse("momentum", momentum, "between 0 and 1");
  return in.shape();
}

std::vector<ParameterSpec> BatchNorm::parameters(const Shape& in) {
  const std::vector<std::int64_t> shape{in.channels};
  return {{ParameterRole::scale, shape, {}, Constant{1}},
          {ParameterRole::bias, shape, {}, Constant{0}},
          {ParameterRole::running_mean, shape, {}, Constant{0}},
          {ParameterRole::running_var, shape, {}, Constant{1}}};
}

std::string BatchNorm::words() const {
  return fmt::format("batch norm, ghost {}, eps {}, momentum {}", ghost, eps, momentum);
}

}  // namespace lockstep::model
