#include "cpu/tiling.h"

#include <algorithm>
#include <limits>

#include <unistd.h>

#include "base/divide.h"

namespace lockstep::cpu {
namespace {

constexpr double kLatency = 4;          // cycles of a multiply-add
constexpr double kTapOverhead = 0.5;    // of the tap list
constexpr double kLoadOverhead = 0.02;  // of each load, even where multiply-adds hide it

double cycles_of_tap(const Kernels& kernels, int channels, int positions) {
  const int vectors = kPack / kernels.lanes;
  const double multiply_adds = channels * positions * vectors, loads = positions * vectors + channels;
  return std::max({multiply_adds / 2, loads / 2, kLatency}) + kTapOverhead + kLoadOverhead * loads;
}

}  // namespace

CacheSizes cache_sizes() {
  CacheSizes sizes;
  if (const long l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE); l1 > 0) sizes.l1 = static_cast<std::size_t>(l1);
  if (const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0) sizes.l2 = static_cast<std::size_t>(l2);
  return sizes;
}

std::vector<int> balanced(int count, int most) {
  const int parts = (count + most - 1) / most;
  std::vector<int> boundaries;
  for (int i = 0; i <= parts; ++i)
    boundaries.push_back(static_cast<int>(static_cast<long>(count) * i / parts));
  return boundaries;
}

int most_tile_channels(const Kernels& kernels, int positions) {
  int most = 0;
  for (int c = 1; c <= kMaxTileChannels; ++c) {
    if (kernels.tap_tile[static_cast<std::size_t>(c)][static_cast<std::size_t>(positions)] != nullptr)
      most = c;
  }
  return most;
}

TileSize choose_tile(const Kernels& kernels, int channels, int width) {
  TileSize best{1, 1};
  double fewest = std::numeric_limits<double>::infinity();
  for (int positions = 1; positions <= std::min(kMaxTilePositions, width); ++positions) {
    const int most = most_tile_channels(kernels, positions);
    if (most == 0) continue;
    const int tiles = (channels + most - 1) / most, in_tile = (channels + tiles - 1) / tiles;
    const int rest = width % positions;
    const int whole_tiles = tiles * (width / positions);
    double cycles = whole_tiles * cycles_of_tap(kernels, in_tile, positions);
    if (rest > 0) cycles += tiles * cycles_of_tap(kernels, in_tile, rest);
    if (cycles < fewest) {
      fewest = cycles;
      best = {in_tile, positions};
    }
  }
  return best;
}

// Long chains between two visits of the sums, long streams of positions: the cost is what each visit and each
// stream adds to a tap.
std::size_t input_room(const Kernels& kernels, const CacheSizes& caches) {
  return kernels.registers > 16 ? 2 * caches.l1 : caches.l1 / 2;
}

BlockSize choose_block(const BlockRequest& r, std::size_t room) {
  constexpr double kStreamCost = 0.05;  // against one visit of the sums
  constexpr int kWidest = 32, kMostPositions = 64;
  const int parts = (r.columns + kWidest - 1) / kWidest;
  const int columns = std::min(r.columns, round_up((r.columns + parts - 1) / parts, r.multiple));
  BlockSize best{1, 1, 1};
  double cheapest = std::numeric_limits<double>::infinity();
  for (int rows = std::min(r.multiple, r.rows); rows <= r.rows; rows += r.multiple) {
    if (rows > r.multiple && rows * columns > kMostPositions) break;
    const int in_rows = std::min(r.in_height, (rows - 1) * r.stride_height + r.kernel_height);
    const int in_columns = std::min(r.in_width, (columns - 1) * r.stride_width + r.kernel_width);
    const auto footprint =
        static_cast<std::size_t>(in_rows) * static_cast<std::size_t>(in_columns) * kPack * sizeof(float);
    const int fit = std::clamp(static_cast<int>(room / footprint), 1, r.in_channels);
    const int blocks = (r.in_channels + fit - 1) / fit, channels = (r.in_channels + blocks - 1) / blocks;
    const double cost = 1.0 / (channels * r.kernel_height * r.kernel_width) + kStreamCost / (rows * columns);
    if (cost < cheapest) {
      cheapest = cost;
      best = {channels, rows, columns};
    }
  }
  // The same number of blocks, as equal as can be.
  const int blocks = (r.rows + best.rows - 1) / best.rows;
  best.rows = std::min(r.rows, round_up((r.rows + blocks - 1) / blocks, r.multiple));
  return best;
}

}  // namespace lockstep::cpu
