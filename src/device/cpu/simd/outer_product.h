// Weight gradient, a chain for each row of a pack: rank-1 updates with input channels in the lanes. Linear
// layers and convolutions whose channel counts are multiples of 16. Per-target header.
#if defined(LOCKSTEP_DEVICE_CPU_SIMD_OUTER_PRODUCT_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_DEVICE_CPU_SIMD_OUTER_PRODUCT_H_
#undef LOCKSTEP_DEVICE_CPU_SIMD_OUTER_PRODUCT_H_
#else
#define LOCKSTEP_DEVICE_CPU_SIMD_OUTER_PRODUCT_H_
#endif
#include <algorithm>

#include "device/cpu/kernels.h"
#include "device/cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::device::cpu::HWY_NAMESPACE {

// Sums and operands of a tile stay in registers.
constexpr int kMostSums = kRegisters == 16 ? 12 : 24;
constexpr int kWidestTile = kRegisters == 16 ? 3 : 5;  // vectors of i
constexpr int tile_channels(int vectors) { return std::min(kMostSums / vectors, 12); }

// One tile: kChannels o x kWidth vectors of i, over all positions and examples.
template <int kChannels, int kWidth>
HWY_NOINLINE void outer_tile(const OuterProductJob& job, int channel, int vector) {
  Vec sum[kChannels][kWidth];
  const auto clear = [&]() HWY_ATTR {
    HWY_UNROLL(12) for (int o = 0; o < kChannels; ++o) {
      HWY_UNROLL(5) for (int i = 0; i < kWidth; ++i) sum[o][i] = hn::Zero(kTag);
    }
  };
  // What earlier rows add up to, while a row has the registers.
  alignas(64) float rows[kChannels * kWidth * kLanes];
  clear();
  const std::ptrdiff_t dy_channel = job.dy_channel, x_example = job.x_example;
  for (int row = 0; row < job.rows; ++row) {
    const float* x_at = job.x + row * job.x_row + vector * kLanes;
    const float* dy_at = job.dy + row * job.dy_row + channel * dy_channel;
    for (int column = 0; column < job.columns; ++column, x_at += job.x_column, dy_at += job.dy_column) {
      const float* x = x_at;
      for (int e = 0; e < kPack; ++e, x += x_example) {
        Vec v[kWidth];
        HWY_UNROLL(5) for (int i = 0; i < kWidth; ++i) v[i] = load(x + i * kLanes);
        HWY_UNROLL(12) for (int o = 0; o < kChannels; ++o) {
          const Vec d = broadcast(dy_at + o * dy_channel + e);
          HWY_UNROLL(5) for (int i = 0; i < kWidth; ++i) sum[o][i] = hn::MulAdd(d, v[i], sum[o][i]);
        }
      }
    }
    if (row > 0) {
      HWY_UNROLL(12) for (int o = 0; o < kChannels; ++o) {
        HWY_UNROLL(5) for (int i = 0; i < kWidth; ++i) {
          sum[o][i] = hn::Add(load(rows + (o * kWidth + i) * kLanes), sum[o][i]);
        }
      }
    }
    if (row + 1 < job.rows) {
      HWY_UNROLL(12) for (int o = 0; o < kChannels; ++o) {
        HWY_UNROLL(5) for (int i = 0; i < kWidth; ++i) store(sum[o][i], rows + (o * kWidth + i) * kLanes);
      }
      clear();
    }
  }
  // The pack tree joins while the sums are in registers.
  const JoinTarget& target = *job.target;
  const std::ptrdiff_t offset = job.offset + channel * job.target_channel + vector * kLanes;
  for (int j = 0; j < target.joins; ++j) {
    const float* from = target.sums[static_cast<std::size_t>(j)] + offset;
    HWY_UNROLL(12) for (int o = 0; o < kChannels; ++o, from += job.target_channel) {
      HWY_UNROLL(5)
      for (int i = 0; i < kWidth; ++i) sum[o][i] = hn::Add(load_anywhere(from + i * kLanes), sum[o][i]);
    }
  }
  const std::ptrdiff_t target_channel = job.target_channel;
  float* to = target.destination + offset;
  HWY_UNROLL(12) for (int o = 0; o < kChannels; ++o, to += target_channel) {
    HWY_UNROLL(5) for (int i = 0; i < kWidth; ++i) store_anywhere(sum[o][i], to + i * kLanes);
  }
}

using OuterTile = void (*)(const OuterProductJob&, int channel, int vector);

template <int kChannels, int kWidth>
constexpr OuterTile outer_tile_of(int channels) {
  if constexpr (kChannels > 1) {
    if (channels < kChannels) return outer_tile_of<kChannels - 1, kWidth>(channels);
  }
  return outer_tile<kChannels, kWidth>;
}

template <int kWidth>
void outer_strip(const OuterProductJob& job, int vector) {
  constexpr int kMost = tile_channels(kWidth);
  const int tiles = (job.channels + kMost - 1) / kMost;
  for (int t = 0, o = 0; t < tiles; ++t) {
    const int next = job.channels * (t + 1) / tiles;  // balanced
    outer_tile_of<kMost, kWidth>(next - o)(job, o, vector);
    o = next;
  }
}

template <int kWidth>
void outer_strip_of(const OuterProductJob& job, int vector, int width) {
  if constexpr (kWidth > 1) {
    if (width < kWidth) return outer_strip_of<kWidth - 1>(job, vector, width);
  }
  outer_strip<kWidth>(job, vector);
}

HWY_NOINLINE inline void outer_product(const OuterProductJob& job) {
  const int strips = (job.vectors + kWidestTile - 1) / kWidestTile;
  for (int s = 0, v = 0; s < strips; ++s) {
    const int next = job.vectors * (s + 1) / strips;
    outer_strip_of<kWidestTile>(job, v, next - v);
    v = next;
  }
}

// [channel][lane] to [lane][channel].
HWY_NOINLINE inline void transpose_pack(const float* from, std::ptrdiff_t from_step, float* to,
                                        std::ptrdiff_t to_step, int channels) {
  constexpr int kBlock = 4;  // a 4x4 block is two rounds of interleaving inside 128 bits
  using Quad = hn::FixedTag<float, kBlock>;
  using Pair = hn::RepartitionToWide<Quad>;
  const Quad quad;
  const Pair pair;
  for (int c = 0; c < channels; c += kBlock) {
    for (int lane = 0; lane < kPack; lane += kBlock) {
      const float* const p = from + c * from_step + lane;
      const auto a = hn::LoadU(quad, p), b = hn::LoadU(quad, p + from_step),
                 u = hn::LoadU(quad, p + 2 * from_step), v = hn::LoadU(quad, p + 3 * from_step);
      const auto ab0 = hn::BitCast(pair, hn::InterleaveLower(quad, a, b)),
                 ab1 = hn::BitCast(pair, hn::InterleaveUpper(quad, a, b)),
                 uv0 = hn::BitCast(pair, hn::InterleaveLower(quad, u, v)),
                 uv1 = hn::BitCast(pair, hn::InterleaveUpper(quad, u, v));
      float* const q = to + lane * to_step + c;
      hn::StoreU(hn::BitCast(quad, hn::InterleaveLower(pair, ab0, uv0)), quad, q);
      hn::StoreU(hn::BitCast(quad, hn::InterleaveUpper(pair, ab0, uv0)), quad, q + to_step);
      hn::StoreU(hn::BitCast(quad, hn::InterleaveLower(pair, ab1, uv1)), quad, q + 2 * to_step);
      hn::StoreU(hn::BitCast(quad, hn::InterleaveUpper(pair, ab1, uv1)), quad, q + 3 * to_step);
    }
  }
}

}  // namespace lockstep::device::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
