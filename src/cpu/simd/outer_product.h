// Weight gradient, a chain for each row of a pack: rank-1 updates with input channels in the lanes. Linear
// layers and convolutions whose channel counts are multiples of 16. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_OUTER_PRODUCT_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_OUTER_PRODUCT_H_
#undef LOCKSTEP_CPU_SIMD_OUTER_PRODUCT_H_
#else
#define LOCKSTEP_CPU_SIMD_OUTER_PRODUCT_H_
#endif
#include <algorithm>

#include "cpu/jobs/outer_product.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

// Sums and operands of a tile stay in registers.
constexpr int kMostSums = kRegisters == 16 ? 12 : 24;
constexpr int kWidestTile = kRegisters == 16 ? 3 : 5;  // vectors of i
constexpr int tile_channels(int vectors) { return std::min(kMostSums / vectors, 12); }

// One tile: kChannels o x kWidth vectors of i, over all positions and examples of a pack.
template <int kChannels, int kWidth>
class OuterTile {
 public:
  // Floats of the tile's sums in memory.
  static constexpr int kFloats = kChannels * kWidth * kLanes;

  HWY_INLINE OuterTile() {}  // NOLINT(modernize-use-equals-default): that would not be code of the target

  HWY_INLINE void zero() {
    each([](Vec& sum, int) HWY_ATTR { sum = hn::Zero(kTag); });
  }
  HWY_INLINE void load_rows(const float* from, std::ptrdiff_t row) {
    each_row(from, row, [](Vec& sum, const float* p) HWY_ATTR { sum = load_anywhere(p); });
  }
  HWY_INLINE void add_rows(const float* from, std::ptrdiff_t row) {
    each_row(from, row, [](Vec& sum, const float* p) HWY_ATTR { sum = hn::Add(load_anywhere(p), sum); });
  }
  HWY_INLINE void store_rows(float* to, std::ptrdiff_t row) {
    each_row(to, row, [](Vec& sum, float* p) HWY_ATTR { store_anywhere(sum, p); });
  }
  // The same where sums lie one behind the other.
  HWY_INLINE void add(const float* from) {
    each([from](Vec& sum, int i) HWY_ATTR { sum = hn::Add(load(from + i * kLanes), sum); });
  }
  HWY_INLINE void store(float* to) {
    each([to](Vec& sum, int i) HWY_ATTR { cpu::HWY_NAMESPACE::store(sum, to + i * kLanes); });
  }

  // The examples of one position.
  HWY_INLINE void multiply(const float* x, std::ptrdiff_t x_example, const float* dy,
                           std::ptrdiff_t dy_channel) {
    for (int e = 0; e < kPack; ++e, x += x_example) {
      Vec v[kWidth];
      HWY_UNROLL(5) for (int i = 0; i < kWidth; ++i) v[i] = load(x + i * kLanes);
      HWY_UNROLL(12) for (int o = 0; o < kChannels; ++o) {
        const Vec d = broadcast(dy + o * dy_channel + e);
        HWY_UNROLL(5) for (int i = 0; i < kWidth; ++i) sum_[o][i] = hn::MulAdd(d, v[i], sum_[o][i]);
      }
    }
  }

 private:
  template <class Function>
  HWY_INLINE void each(Function function) {
    HWY_UNROLL(12) for (int o = 0; o < kChannels; ++o) {
      HWY_UNROLL(5) for (int i = 0; i < kWidth; ++i) function(sum_[o][i], o * kWidth + i);
    }
  }
  template <class Float, class Function>
  HWY_INLINE void each_row(Float* p, std::ptrdiff_t row, Function function) {
    HWY_UNROLL(12) for (int o = 0; o < kChannels; ++o, p += row) {
      HWY_UNROLL(5) for (int i = 0; i < kWidth; ++i) function(sum_[o][i], p + i * kLanes);
    }
  }

  Vec sum_[kChannels][kWidth];
};

// A tile of all packs, one after the other: sums that meet within them wait in a stage.
template <int kChannels, int kWidth>
HWY_NOINLINE void outer_tile(const OuterProductJob* packs, int count, int channel, int vector) {
  using Tile = OuterTile<kChannels, kWidth>;
  Tile tile;
  alignas(64) float rows[Tile::kFloats];  // what earlier rows add up to, while a row has the registers
  alignas(64) float stage[kMostStaged][Tile::kFloats];
  int staged = 0;
  for (const OuterProductJob* job = packs; job != packs + count; ++job) {
    const JoinTarget& target = *job->target;
    const std::ptrdiff_t target_channel = job->target_channel;
    const std::ptrdiff_t offset = job->offset + channel * target_channel + vector * kLanes;
    if (job->resume) {
      tile.load_rows(target.destination + offset, target_channel);
    } else {
      tile.zero();
    }
    const std::ptrdiff_t dy_channel = job->dy_channel, x_example = job->x_example;
    for (int row = 0; row < job->rows; ++row) {
      const float* x = job->x + row * job->x_row + vector * kLanes;
      const float* dy = job->dy + row * job->dy_row + channel * dy_channel;
      for (int column = 0; column < job->columns; ++column, x += job->x_column, dy += job->dy_column) {
        tile.multiply(x, x_example, dy, dy_channel);
      }
      if (row > 0) tile.add(rows);
      if (row + 1 < job->rows) {
        tile.store(rows);
        tile.zero();
      }
    }
    // The pack tree joins while the sums are in registers.
    for (int j = 0; j < job->staged_joins; ++j) tile.add(stage[--staged]);
    for (int j = 0; j < target.joins; ++j) {
      tile.add_rows(target.sums[static_cast<std::size_t>(j)] + offset, target_channel);
    }
    if (job->stages) {
      tile.store(stage[staged++]);
    } else {
      tile.store_rows(target.destination + offset, target_channel);
    }
  }
}

using OuterTileFunction = void (*)(const OuterProductJob* packs, int count, int channel, int vector);

template <int kChannels, int kWidth>
constexpr OuterTileFunction outer_tile_of(int channels) {
  if constexpr (kChannels > 1) {
    if (channels < kChannels) return outer_tile_of<kChannels - 1, kWidth>(channels);
  }
  return outer_tile<kChannels, kWidth>;
}

template <int kWidth>
void outer_strip(const OuterProductJob* packs, int count, int vector) {
  constexpr int kMost = tile_channels(kWidth);
  const int channels = packs->channels, tiles = (channels + kMost - 1) / kMost;
  for (int t = 0, o = 0; t < tiles; ++t) {
    const int next = channels * (t + 1) / tiles;  // balanced
    outer_tile_of<kMost, kWidth>(next - o)(packs, count, o, vector);
    o = next;
  }
}

template <int kWidth>
void outer_strip_of(const OuterProductJob* packs, int count, int vector, int width) {
  if constexpr (kWidth > 1) {
    if (width < kWidth) return outer_strip_of<kWidth - 1>(packs, count, vector, width);
  }
  outer_strip<kWidth>(packs, count, vector);
}

HWY_NOINLINE inline void outer_products(const OuterProductJob* packs, int count) {
  const int vectors = packs->vectors, strips = (vectors + kWidestTile - 1) / kWidestTile;
  for (int s = 0, v = 0; s < strips; ++s) {
    const int next = vectors * (s + 1) / strips;
    outer_strip_of<kWidestTile>(packs, count, v, next - v);
    v = next;
  }
}

HWY_NOINLINE inline void outer_product(const OuterProductJob& job) { outer_products(&job, 1); }

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
