// How far into its input a sliding window reaches.
#pragma once
#include <algorithm>

#include "program/geometry.h"

namespace lockstep::program {

struct Window {
  Extent size, stride, padding;
};

// The part of `whole` that the windows of `output` touch, from the top left corner on.
inline Shape reach(const Shape& output, const Shape& whole, const Window& w) {
  const auto reach_of = [](int outputs, int inputs, int window, int stride, int padding) {
    return std::clamp((outputs - 1) * stride + window - padding, 1, inputs);
  };
  return {whole.channels,
          reach_of(output.height, whole.height, w.size.height, w.stride.height, w.padding.height),
          reach_of(output.width, whole.width, w.size.width, w.stride.width, w.padding.width)};
}

}  // namespace lockstep::program
