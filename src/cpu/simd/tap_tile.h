// Convolution forward, its input gradient and linear layers are all this loop. Registers hold a tile
// of output channels x positions x the pack; a run-time tap list says where each term of the chain lies, so
// kernel size, stride and padding are data. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_TAP_TILE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_TAP_TILE_H_
#undef LOCKSTEP_CPU_SIMD_TAP_TILE_H_
#else
#define LOCKSTEP_CPU_SIMD_TAP_TILE_H_
#endif
#include "cpu/jobs/tap_tile.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

// Registers a tile needs at a boundary: the sums, the inputs of two taps and two weights.
constexpr bool fits_registers(int channels, int positions) {
  return (channels + 2) * positions * kVectors + 2 <= kRegisters;
}

// The taps of one position, and where they point.
struct Chain {
  const float* input;
  const float* weights;
  const Tap* first;
  const Tap* last;

  HWY_INLINE Chain(const TapTileJob& job, const Position& position)
      : input(job.input + position.input),
        weights(job.weights + position.weights),
        first(job.taps + position.first_tap),
        last(first + position.taps - 1) {}
  HWY_INLINE const float* input_at(const Tap* tap) const { return at(input, tap->input); }
  HWY_INLINE const float* weights_at(const Tap* tap) const { return at(weights, tap->weight); }

 private:
  static HWY_INLINE const float* at(const float* p, std::int32_t bytes) {
    return reinterpret_cast<const float*>(reinterpret_cast<const char*>(p) + bytes);
  }
};

// kChannels x kPositions sums in registers. kFinished: what is stored is a finished sum, not one to be taken
// up again.
template <int kChannels, int kPositions, bool kFinished>
class TapTileSums {
 public:
  explicit HWY_INLINE TapTileSums(const TapTileJob& job)
      : input_position_(job.input_position),
        start_position_(job.start_position),
        output_position_(job.output_position),
        output_channel_(job.output_channel) {}

  HWY_INLINE void begin(const float* start, const Chain& chain) {
    HWY_UNROLL(20) for (int o = 0; o < kChannels; ++o) {
      HWY_UNROLL(4) for (int i = 0; i < kColumns; ++i) sum_[o][i] = load(start_of(start, o, i));
    }
    add(chain, chain.first);
  }

  HWY_INLINE void add(const Chain& chain, const Tap* tap) {
    Vec x[kColumns];
    load_inputs(chain.input_at(tap), x);
    const float* const weights = chain.weights_at(tap);
    HWY_UNROLL(20) for (int o = 0; o < kChannels; ++o) {
      const Vec w = broadcast(weights + o);
      HWY_UNROLL(4) for (int i = 0; i < kColumns; ++i) sum_[o][i] = hn::MulAdd(w, x[i], sum_[o][i]);
    }
  }

  // The last tap of one position and the first of the next. Sum by sum, because a burst of stores drains the
  // pipeline (27 cycles for ten on Zen 3).
  HWY_INLINE void hand_over(const Chain& chain, float* output, const float* start, const Chain& next) {
    Vec x[kColumns], next_x[kColumns];
    load_inputs(chain.input_at(chain.last), x);
    load_inputs(next.input_at(next.first), next_x);
    const float* const weights = chain.weights_at(chain.last);
    const float* const next_weights = next.weights_at(next.first);
    HWY_UNROLL(20) for (int o = 0; o < kChannels; ++o, output += output_channel_) {
      const Vec w = broadcast(weights + o), next_w = broadcast(next_weights + o);
      HWY_UNROLL(4) for (int i = 0; i < kColumns; ++i) {
        store(result(hn::MulAdd(w, x[i], sum_[o][i])), output_of(output, i));
        sum_[o][i] = hn::MulAdd(next_w, next_x[i], load(start_of(start, o, i)));
      }
    }
  }

  HWY_INLINE void end(const Chain& chain, float* output) {
    add(chain, chain.last);
    HWY_UNROLL(20) for (int o = 0; o < kChannels; ++o, output += output_channel_) {
      HWY_UNROLL(4) for (int i = 0; i < kColumns; ++i) store(result(sum_[o][i]), output_of(output, i));
    }
  }

 private:
  static constexpr int kColumns = kPositions * kVectors;  // vectors of one channel

  static HWY_INLINE Vec result(Vec sum) {
    if constexpr (kFinished) return finished(sum);
    return sum;
  }
  HWY_INLINE void load_inputs(const float* input, Vec (&x)[kColumns]) const {
    HWY_UNROLL(4) for (int i = 0; i < kColumns; ++i) {
      x[i] = load(input + (i / kVectors) * input_position_ + (i % kVectors) * kLanes);
    }
  }
  HWY_INLINE const float* start_of(const float* start, int o, int i) const {
    return start + o * kPack + (i / kVectors) * start_position_ + (i % kVectors) * kLanes;
  }
  HWY_INLINE float* output_of(float* output, int i) const {
    return output + (i / kVectors) * output_position_ + (i % kVectors) * kLanes;
  }

  // Copies: vector stores may alias anything, so fields of the job would be loaded again after each.
  const std::ptrdiff_t input_position_, start_position_, output_position_, output_channel_;
  Vec sum_[kChannels][kColumns];
};

// All terms of a chain between its first and its last. Two short loops, not one long one: 5 x 25 taps run
// 2 points nearer to peak than 125 (Zen 3).
template <class Tile>
HWY_INLINE void add_middle(const TapTileJob& job, Tile& tile, Chain& chain) {
  const Tap* tap = chain.first + 1;
  for (int left = job.repeats;; --left) {
    const Tap* const stop = left == 1 ? chain.last : chain.last + 1;
    for (; tap != stop; ++tap) tile.add(chain, tap);
    if (left == 1) return;
    chain.input += job.input_repeat;
    chain.weights += job.weight_repeat;
    tap = chain.first;
  }
}

// All positions run as one stream, so that only the first and the last pay for a burst of loads or stores.
template <int kChannels, int kPositions, bool kFinished>
HWY_NOINLINE void tap_tile(const TapTileJob& job) {
  TapTileSums<kChannels, kPositions, kFinished> tile(job);
  const Position* position = job.positions;
  const Position* const last = position + job.position_count - 1;
  const float* start = job.start;
  float* output = job.output;
  Chain chain(job, *position);
  tile.begin(start, chain);
  for (; position != last; ++position) {
    add_middle(job, tile, chain);
    const Chain next(job, position[1]);
    start += job.start_tile;
    tile.hand_over(chain, output + (job.scatter ? position->output : 0), start, next);
    output += job.output_tile;
    chain = next;
  }
  add_middle(job, tile, chain);
  tile.end(chain, output + (job.scatter ? position->output : 0));
}

// Chains of fewer than two terms, which the stream above cannot run.
HWY_NOINLINE inline void tap_tile_short(const TapTileJob& job, int channels, int positions) {
  for (int p = 0; p < job.position_count; ++p) {
    const Position& position = job.positions[p];
    for (int o = 0; o < channels; ++o) {
      for (int i = 0; i < positions * kVectors; ++i) {
        const std::ptrdiff_t neighbour = i / kVectors, lanes = (i % kVectors) * kLanes;
        Vec sum = load(job.start + p * job.start_tile + neighbour * job.start_position + o * kPack + lanes);
        if (position.taps > 0) {
          const Chain chain(job, position);
          const Vec x = load(chain.input_at(chain.first) + neighbour * job.input_position + lanes);
          sum = hn::MulAdd(broadcast(chain.weights_at(chain.first) + o), x, sum);
        }
        store(finished(sum), job.output + (job.scatter ? position.output : p * job.output_tile) +
                                 o * job.output_channel + neighbour * job.output_position + lanes);
      }
    }
  }
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
