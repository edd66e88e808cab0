#include "model/layers/conv2d.h"

#include "model/sliding_window.h"

namespace lockstep::model {

Shape Conv2d::output(const LayerInputs& in) const {
  check_count(in, "output channels", out_channels);
  const Extent out = windows_inside(in, {"kernel", kernel, stride, padding});
  return {out_channels, out.height, out.width};
}

std::vector<ParameterSpec> Conv2d::parameters(const Shape& in) const {
  const std::int64_t taps = static_cast<std::int64_t>(kernel.height) * kernel.width;
  const Fans fans{in.channels * taps, out_channels * taps};
  std::vector<ParameterSpec> specs{{ParameterRole::weight,
                                    {out_channels, in.channels, kernel.height, kernel.width},
                                    fans,
                                    initial_weight}};
  if (bias) specs.push_back({ParameterRole::bias, {out_channels}, fans, initial_bias});
  return specs;
}

}  // namespace lockstep::model
