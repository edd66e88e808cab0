// Back through a 2x2 average pool and the relu before it. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_UNPOOL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_UNPOOL_H_
#undef LOCKSTEP_CPU_SIMD_UNPOOL_H_
#else
#define LOCKSTEP_CPU_SIMD_UNPOOL_H_
#endif
#include "cpu/jobs/unpool.h"
#include "cpu/simd/mask.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

// Back through the pool and the relu for kChannels channels at a time, so that their bias chains overlap.
template <int kChannels, bool kBias>
HWY_INLINE void unpool_channels(const UnpoolJob& job, int channel) {
  const Vec quarter = hn::Set(kTag, 0.25f);
  const std::ptrdiff_t dy_channel = job.dy_channel, dx_channel = job.dx_channel,
                       mask_channel = job.mask_channel;
  Vec bias[kChannels * kVectors];
  HWY_UNROLL(8) for (int i = 0; kBias && i < kChannels * kVectors; ++i) {
    bias[i] = load(job.bias + channel * kPack + i * kLanes);
  }
  for (int row = 0; row < job.rows; ++row) {
    const float* const dy = job.dy + channel * dy_channel + (row / 2) * job.dy_columns * kPack;
    const std::uint8_t* const mask = job.mask + channel * mask_channel + row * job.mask_columns * 2;
    float* const dx = job.dx + channel * dx_channel + row * job.columns * kPack;
    for (int x = 0; x < job.columns; x += 2) {
      HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) {
        const MaskPair masks(mask + o * mask_channel + x * 2);
        HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
          // one rounding, and a zero is +0
          const Vec g =
              hn::MulAdd(load(dy + o * dy_channel + (x / 2) * kPack + v * kLanes), quarter, hn::Zero(kTag));
          const Vec left = masks.pass(g, 0, v), right = masks.pass(g, 1, v);
          store(left, dx + o * dx_channel + x * kPack + v * kLanes);
          store(right, dx + o * dx_channel + (x + 1) * kPack + v * kLanes);
          if constexpr (kBias) {
            Vec& sum = bias[o * kVectors + v];
            sum = hn::Add(hn::Add(sum, left), right);
          }
        }
      }
    }
  }
  HWY_UNROLL(8) for (int i = 0; kBias && i < kChannels * kVectors; ++i) {
    store(bias[i], job.bias + channel * kPack + i * kLanes);
  }
}

// All channels from `channel` on, at most kMost at a time.
template <int kMost>
HWY_INLINE void unpool_with_bias(const UnpoolJob& job, int channel) {
  for (; channel + kMost <= job.channels; channel += kMost) unpool_channels<kMost, true>(job, channel);
  if constexpr (kMost > 1) {
    if (channel < job.channels) unpool_with_bias<kMost - 1>(job, channel);
  }
}

HWY_NOINLINE inline void unpool(const UnpoolJob& job) {
  if (job.bias != nullptr) return unpool_with_bias<8 / kVectors>(job, 0);
  for (int channel = 0; channel < job.channels; ++channel) unpool_channels<1, false>(job, channel);
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
