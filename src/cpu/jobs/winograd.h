// The transforms of fast convolution (simd/winograd.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "arithmetic/pack.h"

namespace lockstep::cpu {

using arithmetic::kPack;

// A square of an image, of which these rows and columns exist: the others read as zero and are not written.
struct TileWindow {
  std::ptrdiff_t row, column;
  int first_row = 0, last_row = 1 << 20, first_column = 0, last_column = 1 << 20;

  bool whole(int side) const {
    return first_row <= 0 && last_row >= side && first_column <= 0 && last_column >= side;
  }
};

// The same tile of `count` channels (or examples), `image_next` and `frequencies_next` apart. A frequency
// (u, v) of N x N lies (u * N + v) * frequency behind the first.
struct IntoFrequenciesJob {
  const float* image;  // at the tile's first element, which may lie outside
  TileWindow window;
  std::ptrdiff_t image_next;
  float* frequencies;
  std::ptrdiff_t frequency, frequencies_next;
  int count;
  int lanes = kPack;  // of the pack that are wanted; of weights any number, else a multiple of the target's
};
using IntoFrequencies = void (*)(const IntoFrequenciesJob&);

struct FromFrequenciesJob {
  const float* frequencies;
  std::ptrdiff_t frequency, frequencies_next;
  float* image;  // of a pooled output: at the tile's first window
  TileWindow window;
  std::ptrdiff_t image_next;
  int count;
  int lanes = kPack;
  const float* bias = nullptr;                 // of an output: [count]
  std::uint8_t* mask = nullptr;                // of a pooled output, at the tile's first element
  std::ptrdiff_t mask_row = 0, mask_next = 0;  // bytes
  int seen_rows = 0, seen_columns = 0;  // of an input gradient: these hold sums of earlier tiles already
};
using FromFrequencies = void (*)(const FromFrequenciesJob&);

// The transforms of tiles of `tile` x `tile` outputs under a square kernel. A pooled output needs an even
// tile.
struct Winograd {
  int tile, kernel;
  IntoFrequencies input, weights, output_gradient;                                         // Bt, G, A
  FromFrequencies output, relu_output, relu_pool_output, input_gradient, weight_gradient;  // At (3), B, Gt

  int side() const { return tile + kernel - 1; }
};
inline constexpr int kWinogradKinds = 5;

}  // namespace lockstep::cpu
