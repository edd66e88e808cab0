// Bias gradient: sums over the positions of each channel, per lane. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_BIAS_SUMS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_BIAS_SUMS_H_
#undef LOCKSTEP_CPU_SIMD_BIAS_SUMS_H_
#else
#define LOCKSTEP_CPU_SIMD_BIAS_SUMS_H_
#endif
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

// kChannels at a time, so that their chains overlap.
template <int kChannels>
HWY_INLINE void bias_sums_of(const float* dy, int positions, float* sums) {
  HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
    Vec sum[kChannels];
    HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) sum[o] = hn::Zero(kTag);
    for (int p = 0; p < positions; ++p) {
      HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) {
        sum[o] =
            hn::Add(sum[o], load(dy + (static_cast<std::ptrdiff_t>(o) * positions + p) * kPack + v * kLanes));
      }
    }
    HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) store(sum[o], sums + o * kPack + v * kLanes);
  }
}

HWY_NOINLINE inline void bias_sums(const float* dy, int channels, int positions, float* sums) {
  const std::ptrdiff_t channel = static_cast<std::ptrdiff_t>(positions) * kPack;
  int c = 0;
  for (; c + 8 <= channels; c += 8) bias_sums_of<8>(dy + c * channel, positions, sums + c * kPack);
  for (; c < channels; ++c) bias_sums_of<1>(dy + c * channel, positions, sums + c * kPack);
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
