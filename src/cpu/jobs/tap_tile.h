// Convolution forward, input gradient and linear layers: tiles of sums over lists of taps (simd/tap_tile.h).
#pragma once
#include <cstddef>
#include <cstdint>

namespace lockstep::cpu {

// One term of a chain: byte offsets from the position's input and from the weights.
struct Tap {
  std::int32_t input, weight;
};

// A tile of neighbouring positions whose chains use the same taps.
struct Position {
  std::int32_t input, output;
  std::int32_t first_tap, taps;
  std::int32_t weights = 0;
};

// One tile of output channels over a list of positions. "tile" steps lead from one Position to the next.
struct TapTileJob {
  const float* start;  // accumulators begin here: [channel][lane] (bias: both steps zero)
  std::ptrdiff_t start_tile, start_position;
  float* output;  // and end here, tile after tile, or (scatter) at output + Position::output
  bool scatter;
  std::ptrdiff_t output_tile, output_position, output_channel;
  const float* input;
  std::ptrdiff_t input_position;
  const float* weights;  // [tap][channel of the tile]
  const Position* positions;
  int position_count;
  const Tap* taps;
  int repeats;  // how often a position's list runs, moving on by these steps
  std::ptrdiff_t input_repeat, weight_repeat;
};
using TapTile = void (*)(const TapTileJob&);
using ShortTapTile = void (*)(const TapTileJob&, int channels, int positions);

inline constexpr int kFloatBytes = static_cast<int>(sizeof(float));  // of the offsets of taps

inline constexpr int kMaxTileChannels = 20, kMaxTilePositions = 4;

}  // namespace lockstep::cpu
