// A window that slides over an image: what a convolution and the pools have in common.
#pragma once
#include "model/layer_inputs.h"

namespace lockstep::model {

struct SlidingWindow {
  std::string_view name;  // "kernel", "window": for error messages
  Extent window, stride, padding;
};

// The numbers in words: "3x3, stride 1x1, padding 0x0".
std::string words_of(const SlidingWindow& sliding);

// How many windows lie wholly inside the padded image; one that overhangs does not exist.
// Throws Error(usage) if there is none, or if a number is impossible.
Extent windows_inside(const LayerInputs& in, const SlidingWindow& sliding);

// The same for a pool, whose windows must not lie in the padding alone.
Extent pool_windows_inside(const LayerInputs& in, const SlidingWindow& sliding);

}  // namespace lockstep::model
