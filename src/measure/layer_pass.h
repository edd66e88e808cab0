// One pass of one convolution layer by itself, with the plan that a training step would use.
#pragma once
#include <functional>
#include <string>

#include "cpu/kernels.h"
#include "cpu/laps.h"
#include "program/geometry.h"

namespace lockstep::measure {

struct LayerShape {
  std::string name;
  int in_channels = 0, out_channels = 0;
  int side = 0;  // of the input
  int kernel = 0, padding = 0;
};

enum class Pass { forward, input_gradient, weight_gradient };

struct LayerPass {
  program::Convolution convolution;
  int packs = 1;  // of one run: several where a step takes the weights in for several at once

  // On the calling thread, over and over the same numbers. A fast convolution adds its phases to `laps`.
  std::function<void(cpu::Laps* laps)> run;
};

// Weights are prepared already, as they are once a step. Requires: kernels outlive it.
LayerPass make_layer_pass(const LayerShape& shape, arithmetic::ConvolutionRule rule, Pass pass,
                          const cpu::Kernels& kernels);

}  // namespace lockstep::measure
