#include "model/layers/conv2d.h"

#include "base/error.h"
#include "model/sliding_window.h"

namespace lockstep::model {
namespace {

void check_groups(const LayerInputs& in, int groups, int out_channels) {
  check_count(in, "groups", groups);
  const int in_channels = in.shape().channels;
  if (in_channels % groups == 0 && out_channels % groups == 0) return;
  throw Error(Fault::usage,
              "layer {} has {} groups on its input {}; they must divide its {} input channels and its {} "
              "output channels",
              in.layer, groups, to_string(in), in_channels, out_channels);
}

}  // namespace

Shape Conv2d::output(const LayerInputs& in) const {
  check_count(in, "output channels", out_channels);
  check_groups(in, groups, out_channels);
  const Extent out = windows_inside(in, {"kernel", kernel, stride, padding});
  return {out_channels, out.height, out.width};
}

std::vector<ParameterSpec> Conv2d::parameters(const Shape& in) const {
  const std::int64_t taps = static_cast<std::int64_t>(kernel.height) * kernel.width;
  const int group_inputs = in.channels / groups;
  const Fans fans{group_inputs * taps, out_channels / groups * taps};
  std::vector<ParameterSpec> specs{{ParameterRole::weight,
                                    {out_channels, group_inputs, kernel.height, kernel.width},
                                    fans,
                                    initial_weight}};
  if (bias) specs.push_back({ParameterRole::bias, {out_channels}, fans, initial_bias});
  return specs;
}

std::string Conv2d::words() const {
  return fmt::format(
      "convolution {} of {}, {}{}", out_channels, words_of({"kernel", kernel, stride, padding}),
      groups == 1 ? "" : fmt::format("{} groups, ", groups), words_of(initial_weight, bias, initial_bias));
}

}  // namespace lockstep::model
