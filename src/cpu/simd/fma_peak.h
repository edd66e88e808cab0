// The most multiply-adds that a core can do. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_FMA_PEAK_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_FMA_PEAK_H_
#undef LOCKSTEP_CPU_SIMD_FMA_PEAK_H_
#else
#define LOCKSTEP_CPU_SIMD_FMA_PEAK_H_
#endif
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

// Enough independent chains to keep every multiplier busy, all in registers.
HWY_NOINLINE inline double fma_peak(std::int64_t rounds) {
  constexpr int kChains = kRegisters == 16 ? 12 : 24;
  const Vec factor = hn::Set(kTag, 0.999f), term = hn::Set(kTag, 1e-7f);
  Vec sum[kChains];
  HWY_UNROLL(24) for (int i = 0; i < kChains; ++i) sum[i] = hn::Set(kTag, static_cast<float>(i) * 1e-6f);
  for (std::int64_t round = 0; round < rounds; ++round) {
    HWY_UNROLL(24) for (int i = 0; i < kChains; ++i) sum[i] = hn::MulAdd(sum[i], factor, term);
#if HWY_ARCH_X86
    HWY_UNROLL(24) for (int i = 0; i < kChains; ++i) asm volatile("" : "+v"(sum[i].raw));
#endif
  }
  Vec all = sum[0];
  HWY_UNROLL(24) for (int i = 1; i < kChains; ++i) all = hn::Add(all, sum[i]);
  alignas(64) float kept[kLanes];
  store(all, kept);
  asm volatile("" : : "m"(kept) : "memory");  // the result counts as used
  return static_cast<double>(rounds) * kChains * kLanes;
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
