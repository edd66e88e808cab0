// Pools with any window, stride and padding (simd/pooling.h).
#pragma once

namespace lockstep::cpu {

struct PoolJob {
  const float* from;
  const float* x;  // of a maximum's gradient
  float* to;
  int channels;
  int height, width, out_height, out_width;  // of input and output
  int window_height, window_width, stride_height, stride_width, padding_height, padding_width;
};
using PoolFunction = void (*)(const PoolJob&);

}  // namespace lockstep::cpu
