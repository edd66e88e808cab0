// Weight gradient, a chain for each row of a pack: rank-1 updates (simd/outer_product.h), with input channels
// in the lanes (simd/transpose.h).
#pragma once
#include <cstddef>

#include "cpu/jobs/join.h"

namespace lockstep::cpu {

// sums[o][i]: in each row a chain over (column, example) of dy[o] * x[i];
// then the rows are added in order.
struct OuterProductJob {
  const float* x;  // channels in the lanes: [row][column][example][i]
  std::ptrdiff_t x_row, x_column, x_example;
  const float* dy;  // [o][row][column][example]
  std::ptrdiff_t dy_channel, dy_row, dy_column;
  int rows, columns;         // of positions
  bool resume;               // go on from what the target's destination holds
  int channels, vectors;     // o; vectors of the target's width that hold all i
  const JoinTarget* target;  // where the sums go, [o][i] from offset on
  std::ptrdiff_t offset, target_channel;
  int staged_joins = 0;  // joined before the target's: sums of earlier packs of the call, last first
  bool stages = false;  // a later pack of the call joins this sum: it waits for it, the target is not written
};
using OuterProduct = void (*)(const OuterProductJob&);

// The same product of several packs, tile by tile; channels and vectors are those of the first.
using OuterProducts = void (*)(const OuterProductJob* packs, int count);
inline constexpr int kMostStaged = 4;

// [channel][lane] to [lane][channel], channels a multiple of 4; steps between rows.
using TransposePack = void (*)(const float* from, std::ptrdiff_t from_step, float* to, std::ptrdiff_t to_step,
                               int channels);

}  // namespace lockstep::cpu
