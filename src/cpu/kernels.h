// The doors of the vector code: plain structs and one row of function pointers per instruction set. No SIMD
// type appears here, so plans are plain C++ that call a row. Activations are [channel][y][x][lane], 64-byte
// aligned. Steps and strides are in floats unless said otherwise.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arithmetic/pack.h"

namespace lockstep::cpu {

using arithmetic::kPack;

// ---- gather: convolution forward, input gradient, linear (simd/gather.h)

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
struct GatherJob {
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
using Gather = void (*)(const GatherJob&);
using GatherShort = void (*)(const GatherJob&, int channels, int positions);

inline constexpr int kMaxTileChannels = 20, kMaxTilePositions = 4;

// ---- finishing a block of a convolution's output (simd/epilogue.h)

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

// ---- convolution, relu and 2x2 average pool in registers (simd/window.h)

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

// ---- Winograd's transforms (simd/winograd.h)

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

// The transforms of tiles of `tile` x `tile` outputs under a square kernel.
struct Winograd {
  int tile, kernel;
  IntoFrequencies input, weights, output_gradient;                                         // Bt, G, A
  FromFrequencies output, relu_output, relu_pool_output, input_gradient, weight_gradient;  // At (3), B, Gt

  int side() const { return tile + kernel - 1; }
};
inline constexpr int kWinogradKinds = 4;

// ---- weight gradients

// Where a finished sum of one pack goes: joined with the sums above it in the pack tree, then stored.
struct JoinTarget {
  static constexpr int kMaxJoins = 24;
  int joins = 0;
  std::array<const float*, kMaxJoins> sums{};  // in joining order
  float* destination = nullptr;
};

// Per-lane sums wait in a stage for the lane tree: [element][lane].
inline constexpr int kStageElements = 512;

// Neighbouring columns of the kernel that are computed together.
struct TapRun {
  std::int32_t input;    // byte offset in x
  std::int32_t element;  // of the first tap, in an output channel's row of the stage
};

// Per-lane chains over positions (simd/lane_chain.h) for a tile of output channels x every run.
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

// Adds `values` into the tree: target[i] = tree join of values[i], i < count.
using JoinRow = void (*)(const float* values, std::ptrdiff_t offset, std::size_t count, const JoinTarget&);

// Rank-1 updates (simd/outer_product.h): sums[o][i] over (column, example) of dy[o] * x[i] in a
// row, rows added in order.
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

// ---- the rest (simd/elementwise.h, simd/pooling.h, simd/softmax.h, simd/pixels.h)

struct PoolJob {
  const float* from;
  const float* x;  // of a maximum's gradient
  float* to;
  int channels;
  int height, width, out_height, out_width;  // of input and output
  int window_height, window_width, stride_height, stride_width, padding_height, padding_width;
};
using PoolFunction = void (*)(const PoolJob&);

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

struct LossJob {
  const float* z;  // [class][lane]
  const std::uint8_t* labels;
  int classes, present;     // lanes that hold an example
  float* dz;                // null for evaluation
  float* loss;              // [lane]
  std::int32_t* predicted;  // [lane]
};

struct MomentumRates {
  float learning_rate, momentum;
};

struct Kernels {
  std::string_view name;  // avx512, avx2, neon
  std::int64_t target;    // Highway's bit, asked of the processor at run time
  int lanes, registers;

  std::array<std::array<Gather, kMaxTilePositions + 1>, kMaxTileChannels + 1> gather,
      gather_finished;  // null: no room
  GatherShort gather_short;
  FinishBlock relu_block, relu_pool_block;
  std::array<WindowRow, kMaxWindowChannels + 1> window_row;  // null: no room
  std::array<Winograd, kWinogradKinds> winograd;
  std::array<std::array<LaneChain, kMaxRun + 1>, kMaxChainChannels + 1> lane_chain;  // null: no room
  LaneTree lane_tree;
  JoinRow join_row;
  OuterProduct outer_product;
  OuterProducts outer_products;
  TransposePack transpose_pack;
  void (*bias_sums)(const float* dy, int channels, int positions, float* sums);  // per lane, adds from +0
  void (*relu)(const float* x, float* y, std::size_t floats);
  void (*relu_gradient)(const float* dy, const float* y, float* dx, std::size_t floats);
  void (*sum)(const float* a, const float* b, float* to, std::size_t floats);  // to may be a or b
  PoolFunction average_pool, average_pool_gradient, maximum_pool, maximum_pool_gradient;
  Unpool unpool;
  void (*loss)(const LossJob&);
  // Pixels of 16 examples, `pixels` each, to [pixel][lane] / 255.
  void (*load_pixels)(const std::uint8_t* const* examples, int pixels, float* to);
  void (*divide)(const float* from, float* to, std::size_t count, float divisor);
  void (*add)(float* into, const float* from, std::size_t count);  // into = into + from
  bool (*all_finite)(const float* values, std::size_t count);
  void (*sgd)(float* weights, const float* gradient, std::size_t count, float learning_rate);
  void (*momentum_sgd)(float* weights, float* velocity, const float* gradient, std::size_t count,
                       const MomentumRates&);
  double (*fma_peak)(std::int64_t rounds);  // runs a register-only loop, returns the multiply-adds done
};

// What this processor can run, best first. Empty if it has no fused multiply-add.
std::vector<const Kernels*> usable_kernels();

// The best row, or the one called `name` if it is not empty. Throws Error(device) if there is none,
// Error(usage) if the name is unknown or this processor cannot run it.
const Kernels& choose_kernels(std::string_view name);

}  // namespace lockstep::cpu
