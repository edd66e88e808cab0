#include "model/layers/conv2d.h"

#include "model/sliding_window.h"

namespace lockstep::model {

Shape Conv2d::output(const LayerInputs& in) const {
  check_count(in, "output channels", out_channels);
  const Extent out = windows_inside(in, {"kernel", kernel, stride, padding});
  return {out_channels, out.height, out.width};
}

std::vector<ParameterSpec> Conv2d::parameters(const Shape& in) const {
  return {{ParameterRole::weight, {out_channels, in.channels, kernel.height, kernel.width}},
          {ParameterRole::bias, {out_channels}}};
}

}  // namespace lockstep::model
