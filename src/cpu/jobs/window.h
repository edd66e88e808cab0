// Convolution, relu and 2x2 average pool in registers (simd/window.h).
#pragma once
#include <cstddef>
#include <cstdint>

namespace lockstep::cpu {

// One tile of output channels over a row of the pool's windows, which all use the same taps.
struct WindowJob {
  const float* bias;  // [channel]: accumulators begin here
  const float* input;
  std::ptrdiff_t input_row;  // columns are a pack apart
  const float* weights;      // [tap][channel of the tile]
  const std::int32_t* taps;  // where each term of a chain lies, from a position's first
  int tap_count;             // at least 2
  int windows;
  float* y;  // [channel][window][lane]
  std::ptrdiff_t y_channel;
  std::uint8_t* mask;  // as in BlockJob
  std::ptrdiff_t mask_channel, mask_row;
};
using WindowRow = void (*)(const WindowJob&);
inline constexpr int kMaxWindowChannels = 6;

}  // namespace lockstep::cpu
