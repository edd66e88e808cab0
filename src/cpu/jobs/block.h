// The end of a block of a convolution's output: relu, or relu and pool (simd/epilogue.h).
#pragma once
#include <cstddef>
#include <cstdint>

namespace lockstep::cpu {

// A dense block [channel][rows][columns][lane] that becomes part of y.
struct BlockJob {
  const float* block;
  int channels, rows, columns;
  float* y;                                   // at the block's first output
  std::ptrdiff_t y_channel, y_row, y_column;  // y_column: of relu_block
  std::uint8_t* mask;  // relu_pool: two bytes a position of the block, bit set: blocked; at the block's first
  std::ptrdiff_t mask_channel, mask_row;  // bytes
};
using FinishBlock = void (*)(const BlockJob&);

}  // namespace lockstep::cpu
