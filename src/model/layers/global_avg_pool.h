// The mean of each channel: an average pool whose one window is the whole image.
#pragma once
#include "model/layer_inputs.h"
#include "model/layers/avg_pool.h"

namespace lockstep::model {

struct GlobalAvgPool {
  static constexpr std::string_view kName = "pool";
  static constexpr int kInputs = 1;

  static Shape output(const LayerInputs& in) { return {in.shape().channels, 1, 1}; }
  static std::vector<ParameterSpec> parameters(const Shape&) { return {}; }
  static std::string words() { return "global average pool"; }

  // The average pool that it is on images of this shape.
  static AvgPool on(const Shape& in) { return {.window = in.extent(), .stride = in.extent()}; }
};

}  // namespace lockstep::model
