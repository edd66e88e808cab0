// Weight gradient, one chain a lane: for layers with few channels. A tile of output channels x neighbouring
// kernel columns runs over all positions; sums go to the stage, from where the lane tree takes them.
// Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_LANE_CHAIN_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_LANE_CHAIN_H_
#undef LOCKSTEP_CPU_SIMD_LANE_CHAIN_H_
#else
#define LOCKSTEP_CPU_SIMD_LANE_CHAIN_H_
#endif
#include <algorithm>

#include "cpu/jobs/lane_chain.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

// Where a position's operands lie.
struct LanePosition {
  const float* x;
  const float* dy;
};

// Registers are left beside the sums and the operands of a position.
constexpr bool has_room(int channels, int run) {
  return channels * run + std::min(channels, run) + 3 <= kRegisters;
}

// kChannels x kRun sums of one vector of lanes.
template <int kChannels, int kRun>
class LaneChainTile {
 public:
  HWY_INLINE LaneChainTile(std::ptrdiff_t dy_channel, std::ptrdiff_t stage_row)
      : dy_channel_(dy_channel), stage_row_(stage_row * kPack) {}

  HWY_INLINE void zero() {
    HWY_UNROLL(16) for (int o = 0; o < kChannels; ++o) {
      HWY_UNROLL(8) for (int i = 0; i < kRun; ++i) sum_[o][i] = hn::Zero(kTag);
    }
  }
  HWY_INLINE void resume(const float* stage) {
    HWY_UNROLL(16) for (int o = 0; o < kChannels; ++o, stage += stage_row_) {
      HWY_UNROLL(8) for (int i = 0; i < kRun; ++i) sum_[o][i] = load(stage + i * kPack);
    }
  }
  // Holds the fewer operands, streams the others.
  HWY_INLINE void add(LanePosition p) {
    if constexpr (kRun <= kChannels) {
      Vec held[kRun];
      HWY_UNROLL(8) for (int i = 0; i < kRun; ++i) held[i] = kept(load(p.x + i * kPack));
      HWY_UNROLL(16) for (int o = 0; o < kChannels; ++o) {
        const Vec d = kept(load(p.dy + o * dy_channel_));
        HWY_UNROLL(8) for (int i = 0; i < kRun; ++i) sum_[o][i] = hn::MulAdd(d, held[i], sum_[o][i]);
      }
    } else {
      Vec held[kChannels];
      HWY_UNROLL(16) for (int o = 0; o < kChannels; ++o) held[o] = kept(load(p.dy + o * dy_channel_));
      HWY_UNROLL(8) for (int i = 0; i < kRun; ++i) {
        const Vec v = kept(load(p.x + i * kPack));
        HWY_UNROLL(16) for (int o = 0; o < kChannels; ++o) sum_[o][i] = hn::MulAdd(held[o], v, sum_[o][i]);
      }
    }
  }
  // The last position of one run and the first of the next, sum by sum: a burst of stores would drain the
  // pipeline.
  HWY_INLINE void hand_over(LanePosition last, float* stage, LanePosition first) {
    HWY_UNROLL(16) for (int o = 0; o < kChannels; ++o, stage += stage_row_) {
      const Vec d = load(last.dy + o * dy_channel_), next_d = load(first.dy + o * dy_channel_);
      HWY_UNROLL(8) for (int i = 0; i < kRun; ++i) {
        cpu::HWY_NAMESPACE::store(hn::MulAdd(d, load(last.x + i * kPack), sum_[o][i]), stage + i * kPack);
        sum_[o][i] = hn::Mul(next_d, load(first.x + i * kPack));
      }
    }
  }
  HWY_INLINE void store(float* stage) const {
    HWY_UNROLL(16) for (int o = 0; o < kChannels; ++o, stage += stage_row_) {
      HWY_UNROLL(8) for (int i = 0; i < kRun; ++i) cpu::HWY_NAMESPACE::store(sum_[o][i], stage + i * kPack);
    }
  }

 private:
  // Where registers are short, the compiler knows better which operands to load twice.
  static HWY_INLINE Vec kept(Vec v) { return has_room(kChannels, kRun) ? in_register(v) : v; }

  const std::ptrdiff_t dy_channel_, stage_row_;
  Vec sum_[kChannels][kRun];
};

// The positions of a chain, and how far apart they are. Copies of the job's fields: vector stores may alias
// anything, so the fields would be loaded again after each.
template <int kColumn>
struct LanePath {
  std::ptrdiff_t x_row, run_time_column, dy_row;
  int rows, columns;

  // Known to the compiler where it can be: 0 stands for a distance that is not.
  HWY_INLINE std::ptrdiff_t x_column() const { return kColumn != 0 ? kColumn : run_time_column; }

  HWY_INLINE LanePosition last(LanePosition first) const {
    return {first.x + (rows - 1) * x_row + (columns - 1) * x_column(),
            first.dy + (rows - 1) * dy_row + (columns - 1) * kPack};
  }
  // Adds the positions of a row. Four at a time: a branch for each would be mispredicted at the end of a
  // chain.
  template <class Tile>
  HWY_INLINE void add_row(Tile& tile, LanePosition p, int count) const {
    for (; count >= 4; count -= 4, p.x += 4 * x_column(), p.dy += 4 * kPack) {
      HWY_UNROLL(4) for (int i = 0; i < 4; ++i) {
        tile.add({p.x + i * x_column(), p.dy + i * kPack});
        keep_order();
      }
    }
    for (; count > 0; --count, p.x += x_column(), p.dy += kPack) tile.add(p);
  }
  // Adds all positions but `skip_first` at the beginning and `skip_last` at the end (0 or 1 each).
  template <class Tile>
  HWY_INLINE void add_all(Tile& tile, LanePosition p, int skip_first, int skip_last) const {
    add_row(tile, {p.x + skip_first * x_column(), p.dy + skip_first * kPack},
            columns - skip_first - (rows == 1 ? skip_last : 0));
    for (int row = 1; row < rows; ++row) {
      p.x += x_row;
      p.dy += dy_row;
      add_row(tile, p, columns - (row == rows - 1 ? skip_last : 0));
    }
  }
};

template <int kChannels, int kRun, int kColumn>
HWY_INLINE void lane_chain_along(const LaneChainJob& job) {
  const LanePath<kColumn> path{job.x_row, job.x_column, job.dy_row, job.rows, job.columns};
  const auto begin_of = [&](int chain) {
    const float* const x = reinterpret_cast<const float*>(reinterpret_cast<const char*>(job.x) +
                                                          job.runs[chain / kVectors].input);
    return LanePosition{x + chain % kVectors * kLanes, job.dy + chain % kVectors * kLanes};
  };
  const auto stage_of = [&](int chain) {
    return job.stage + job.runs[chain / kVectors].element * kPack + chain % kVectors * kLanes;
  };
  const int chains = job.run_count * kVectors;
  LaneChainTile<kChannels, kRun> tile(job.dy_channel, job.stage_row);
  if (job.resume || job.rows * job.columns < 2) {
    for (int chain = 0; chain < chains; ++chain) {
      float* const stage = stage_of(chain);
      if (job.resume) {
        tile.resume(stage);
      } else {
        tile.zero();
      }
      path.add_all(tile, begin_of(chain), 0, 0);
      tile.store(stage);
    }
    return;
  }
  // All chains run as one stream, so that only the first and the last pay for a burst of loads or stores.
  LanePosition first = begin_of(0);
  tile.zero();
  tile.add(first);
  for (int chain = 0;; ++chain) {
    path.add_all(tile, first, 1, 1);
    const LanePosition last = path.last(first);
    if (chain + 1 == chains) {
      tile.add(last);
      tile.store(stage_of(chain));
      return;
    }
    first = begin_of(chain + 1);
    tile.hand_over(last, stage_of(chain), first);
  }
}

template <int kChannels, int kRun>
HWY_NOINLINE void lane_chain(const LaneChainJob& job) {
  if (has_room(kChannels, kRun) && job.x_column == kPack) {
    lane_chain_along<kChannels, kRun, kPack>(job);
  } else {
    lane_chain_along<kChannels, kRun, 0>(job);
  }
}

// After both pairings of the lane tree, lane s of a vector holds the sum of an element; kSumLane[element] is
// that s.
struct SumLanes {
  alignas(64) std::int32_t lane[kLanes];
};
constexpr SumLanes sum_lanes() {
  constexpr int kBlocks = kLanes / 4;  // elements in a vector of four lanes each
  SumLanes lanes{};
  for (int s = 0; s < kLanes; ++s) {
    const int half = s / (kLanes / 2), within = s % (kLanes / 2);
    lanes.lane[half * 2 * kBlocks + (within % 2) * kBlocks + within / 2] = s;
  }
  return lanes;
}
constexpr SumLanes kSumLanes = sum_lanes();

// Levels + 8 and + 4 of the lane tree for as many elements as a vector has blocks of four lanes: a block
// each.
HWY_INLINE Vec four_lanes(const float* stage) {
#if HWY_TARGET == HWY_AVX3
  // Two elements side by side; halves are combined from memory, which costs no shuffle.
  const hn::Half<Tag> half;
  constexpr int kHalf = kPack / 2;
  const auto eight_lanes = [half](const float* p) HWY_ATTR {
    const Vec low = hn::Combine(kTag, hn::Load(half, p + kPack), hn::Load(half, p));
    const Vec high = hn::Combine(kTag, hn::Load(half, p + kPack + kHalf), hn::Load(half, p + kHalf));
    return hn::Add(low, high);
  };
  const Vec a = eight_lanes(stage), b = eight_lanes(stage + 2 * kPack);
  // Highway has no word for even and odd blocks of two vectors.
  return hn::Add(Vec{_mm512_shuffle_f32x4(a.raw, b.raw, 0x88)},
                 Vec{_mm512_shuffle_f32x4(a.raw, b.raw, 0xdd)});
#elif HWY_TARGET == HWY_AVX2
  const Vec a = hn::Add(load(stage), load(stage + kLanes));
  const Vec b = hn::Add(load(stage + kPack), load(stage + kPack + kLanes));
  return hn::Add(hn::ConcatLowerLower(kTag, b, a), hn::ConcatUpperUpper(kTag, b, a));
#else
  const Vec low = hn::Add(load(stage), load(stage + 2 * kLanes));
  const Vec high = hn::Add(load(stage + kLanes), load(stage + 3 * kLanes));
  return hn::Add(low, high);
#endif
}

HWY_NOINLINE inline void lane_tree(const LaneTreeJob& job) {
  constexpr int kBlocks = kLanes / 4;
  const int elements = job.rows * job.elements;
  const hn::RebindToSigned<Tag> index_tag;
  const hn::RepartitionToWide<Tag> pairs;
  const auto indices = hn::IndicesFromVec(kTag, hn::Load(index_tag, kSumLanes.lane));
  // Level + 2 of two vectors of elements, level + 1 of four.
  const auto two_lanes = [&](const float* p) HWY_ATTR {
    const auto a = hn::BitCast(pairs, four_lanes(p)), b = hn::BitCast(pairs, four_lanes(p + kBlocks * kPack));
    return hn::Add(hn::BitCast(kTag, hn::InterleaveLower(pairs, a, b)),
                   hn::BitCast(kTag, hn::InterleaveUpper(pairs, a, b)));
  };
  for (int e = 0; e < elements; e += kLanes) {
    const float* const p = job.stage + e * kPack;
    const Vec low = two_lanes(p), high = two_lanes(p + 2 * kBlocks * kPack);
    const Vec sums = hn::Add(hn::ConcatEven(kTag, high, low), hn::ConcatOdd(kTag, high, low));
    store(hn::TableLookupLanes(sums, indices), job.values + e);
  }
  for (int row = 0; row < job.rows; ++row) {
    const float* const from = job.values + row * job.elements;
    float* const to = job.to + row * job.to_row;
    if (job.elements < kLanes) {
      for (int e = 0; e < job.elements; ++e) to[e] = from[e];
      continue;
    }
    // The last vector overlaps the one before it.
    for (int e = 0; e < job.elements; e += kLanes) {
      const int at = std::min(e, job.elements - kLanes);
      store_anywhere(load_anywhere(from + at), to + at);
    }
  }
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
