// Back through a 2x2 average pool and the relu before it (simd/unpool.h).
#pragma once
#include <cstddef>
#include <cstdint>

namespace lockstep::cpu {

struct UnpoolJob {
  const float* dy;  // [channel][rows / 2][columns / 2][lane]
  std::ptrdiff_t dy_channel;
  const std::uint8_t* mask;
  std::ptrdiff_t mask_channel;
  float* dx;
  std::ptrdiff_t dx_channel;
  int channels, rows, columns, mask_columns, dy_columns;
  float* bias;  // null, or per-lane sums [channel][lane] to go on from
};
using Unpool = void (*)(const UnpoolJob&);

}  // namespace lockstep::cpu
