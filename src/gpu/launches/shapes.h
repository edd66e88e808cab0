// The shapes of layers as the kernels' arguments have them.
#pragma once
#include "gpu/arguments.h"
#include "program/program.h"

namespace lockstep::gpu {

inline WindowShape window_shape(const program::Convolution& c, int packs) {
  return {c.input.channels, c.input.height,  c.input.width,  c.output.channels, c.output.height,
          c.output.width,   c.kernel.height, c.kernel.width, c.stride.height,   c.stride.width,
          c.padding.height, c.padding.width, packs};
}

inline WindowShape window_shape(const program::Pool& p, int packs) {
  return {p.input.channels, p.input.height,  p.input.width,  p.output.channels, p.output.height,
          p.output.width,   p.window.height, p.window.width, p.stride.height,   p.stride.width,
          p.padding.height, p.padding.width, packs};
}

}  // namespace lockstep::gpu
