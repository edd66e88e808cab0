// Convolution over an image, usually with a bias for each output channel.
#pragma once
#include "model/layer_inputs.h"
#include "model/parameter.h"

namespace lockstep::model {

struct Conv2d {
  static constexpr std::string_view kName = "conv";
  static constexpr int kInputs = 1;
  int out_channels = 0;
  Extent kernel;
  Extent stride{1, 1};
  Extent padding{0, 0};  // zeros, the same on both sides
  int groups = 1;        // outputs of a group take the input channels of the same group
  bool bias = true;
  std::optional<InitialValues> initial_weight = {}, initial_bias = {};

  Shape output(const LayerInputs& in) const;
  std::vector<ParameterSpec> parameters(const Shape& in) const;
  std::string words() const;
};

}  // namespace lockstep::model
