// Weight gradient, one chain a lane, then the lane tree (simd/lane_chain.h).
#pragma once
#include <cstddef>
#include <cstdint>

namespace lockstep::cpu {

// Per-lane sums wait in a stage for the lane tree: [element][lane].
inline constexpr int kStageElements = 512;

// Neighbouring columns of the kernel that are computed together.
struct TapRun {
  std::int32_t input;    // byte offset in x
  std::int32_t element;  // of the first tap, in an output channel's row of the stage
};

// Per-lane chains over positions, for a tile of output channels x every run.
struct LaneChainJob {
  const float* dy;
  std::ptrdiff_t dy_channel, dy_row;  // columns are a pack apart
  const float* x;
  std::ptrdiff_t x_row, x_column;
  int rows, columns;  // of positions
  const TapRun* runs;
  int run_count;
  float* stage;
  std::ptrdiff_t stage_row;  // elements from one output channel to the next
  bool resume;               // go on from what the stage holds
};
using LaneChain = void (*)(const LaneChainJob&);
inline constexpr int kMaxRun = 5, kMaxChainChannels = 16;

// Lane trees of `rows` staged rows of `elements` each, to rows `to_row` apart. `values` is room for a stage's
// elements.
struct LaneTreeJob {
  const float* stage;
  int rows, elements;
  float* values;
  float* to;
  std::ptrdiff_t to_row;
};
using LaneTree = void (*)(const LaneTreeJob&);

}  // namespace lockstep::cpu
