// The check for NaN and infinity. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_FINITE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_FINITE_H_
#undef LOCKSTEP_CPU_SIMD_FINITE_H_
#else
#define LOCKSTEP_CPU_SIMD_FINITE_H_
#endif
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

HWY_NOINLINE inline bool all_finite(const float* values, std::size_t count) {
  // x - x is NaN exactly when x is not finite.
  auto bad = hn::IsNaN(hn::Zero(kTag));
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vec x = load_anywhere(values + i);
    bad = hn::Or(bad, hn::IsNaN(hn::Sub(x, x)));
  }
  bool finite = hn::AllFalse(kTag, bad);
  for (; i < count; ++i) {
    const float difference = values[i] - values[i];
    finite = finite && difference == difference;
  }
  return finite;
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
