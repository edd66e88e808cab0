// Convolution, relu and 2x2 average pool without leaving the registers: a tile is output channels x the four
// positions of one window of the pool. Pays where chains are short: a block of sums that is stored and read
// again costs as much as several taps. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_WINDOW_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_WINDOW_H_
#undef LOCKSTEP_CPU_SIMD_WINDOW_H_
#else
#define LOCKSTEP_CPU_SIMD_WINDOW_H_
#endif
#include <algorithm>

#include "cpu/jobs/window.h"
#include "cpu/simd/mask.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

constexpr int kCorners = 4;  // of a window: top left and right, bottom left and right

// Registers of a tile: the sums, the weights of a tap and one input, or its inputs and one weight.
constexpr bool window_fits_registers(int channels) {
  return channels * kCorners + std::min(channels, kCorners) + 1 <= kRegisters;
}

// Where a window's input begins and its results go.
struct Window {
  const float* input;
  float* y;
  std::uint8_t* mask;

  HWY_INLINE Window next() const { return {input + 2 * kPack, y + kPack, mask + 4}; }
};

// One vector of lanes of kChannels channels of a window.
template <int kChannels>
class WindowTile {
 public:
  HWY_INLINE WindowTile(const WindowJob& job, int v)
      : bias_(job.bias),
        first_weights_(job.weights),
        last_weights_(job.weights + (job.tap_count - 1) * kChannels),
        last_tap_(job.taps[job.tap_count - 1]),
        input_row_(job.input_row),
        y_channel_(job.y_channel),
        mask_channel_(job.mask_channel),
        mask_row_(job.mask_row),
        v_(v) {}

  HWY_INLINE void begin(const Window& window) {
    HWY_UNROLL(6) for (int o = 0; o < kChannels; ++o) {
      HWY_UNROLL(4) for (int i = 0; i < kCorners; ++i) sum_[o][i] = broadcast(bias_ + o);
    }
    add(window.input, first_weights_);
  }

  // All taps between the first and the last.
  HWY_INLINE void add_middle(const Window& window, const std::int32_t* tap, const std::int32_t* last) {
    for (const float* weights = first_weights_ + kChannels; tap != last; ++tap, weights += kChannels) {
      add(window.input + *tap, weights);
    }
  }

  // The last tap of one window and the first of the next, channel by channel.
  HWY_INLINE void hand_over(const Window& window, const Window& next) {
    const float* input = window.input + last_tap_;
    const float* next_input = next.input;
    float* y = window.y;
    std::uint8_t* mask = window.mask;
    HWY_UNROLL(6) for (int o = 0; o < kChannels; ++o, y += y_channel_, mask += mask_channel_) {
      keep_addresses(input, next_input, y, mask);
      const Vec w = broadcast(last_weights_ + o);
      HWY_UNROLL(4) for (int i = 0; i < kCorners; ++i) {
        sum_[o][i] = hn::MulAdd(w, input_of(input, i), sum_[o][i]);
      }
      finish(o, y, mask);
      const Vec next_w = broadcast(first_weights_ + o), bias = broadcast(bias_ + o);
      HWY_UNROLL(4) for (int i = 0; i < kCorners; ++i) {
        sum_[o][i] = hn::MulAdd(next_w, input_of(next_input, i), bias);
      }
    }
  }

  HWY_INLINE void end(const Window& window) {
    add(window.input + last_tap_, last_weights_);
    float* y = window.y;
    std::uint8_t* mask = window.mask;
    HWY_UNROLL(6) for (int o = 0; o < kChannels; ++o, y += y_channel_, mask += mask_channel_) {
      finish(o, y, mask);
    }
  }

 private:
  HWY_INLINE Vec input_of(const float* input, int corner) const {
    return load(input + (corner / 2) * input_row_ + (corner % 2) * kPack);
  }

  // What there is less of, weights or inputs, waits in registers.
  HWY_INLINE void add(const float* input, const float* weights) {
    if constexpr (kChannels < kCorners) {
      Vec w[kChannels];
      HWY_UNROLL(6) for (int o = 0; o < kChannels; ++o) w[o] = broadcast(weights + o);
      HWY_UNROLL(4) for (int i = 0; i < kCorners; ++i) {
        const Vec x = input_of(input, i);
        HWY_UNROLL(6) for (int o = 0; o < kChannels; ++o) sum_[o][i] = hn::MulAdd(w[o], x, sum_[o][i]);
      }
    } else {
      Vec x[kCorners];
      HWY_UNROLL(4) for (int i = 0; i < kCorners; ++i) x[i] = input_of(input, i);
      HWY_UNROLL(6) for (int o = 0; o < kChannels; ++o) {
        const Vec w = broadcast(weights + o);
        HWY_UNROLL(4) for (int i = 0; i < kCorners; ++i) sum_[o][i] = hn::MulAdd(w, x[i], sum_[o][i]);
      }
    }
  }

  HWY_INLINE void finish(int o, float* y, std::uint8_t* mask) const {
    store(relu_average(sum_[o], mask, mask_row_, v_), y);
  }

  // Copies: vector stores may alias anything, so fields of the job would be loaded again after each.
  const float* const bias_;
  const float* const first_weights_;
  const float* const last_weights_;
  const std::ptrdiff_t last_tap_, input_row_, y_channel_, mask_channel_, mask_row_;
  const int v_;
  Vec sum_[kChannels][kCorners];
};

// All windows run as one stream for each vector of the pack.
template <int kChannels>
HWY_NOINLINE void window_row(const WindowJob& job) {
  const std::int32_t* const second = job.taps + 1;
  const std::int32_t* const last = job.taps + job.tap_count - 1;
  for (int v = 0; v < kVectors; ++v) {
    WindowTile<kChannels> tile(job, v);
    Window window{job.input + v * kLanes, job.y + v * kLanes, job.mask};
    tile.begin(window);
    for (int left = job.windows - 1; left > 0; --left) {
      tile.add_middle(window, second, last);
      const Window next = window.next();
      tile.hand_over(window, next);
      window = next;
    }
    tile.add_middle(window, second, last);
    tile.end(window);
  }
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
