// The sum of two activations. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_SUM_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_SUM_H_
#undef LOCKSTEP_CPU_SIMD_SUM_H_
#else
#define LOCKSTEP_CPU_SIMD_SUM_H_
#endif
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

// to may be a or b.
HWY_NOINLINE inline void sum_relu(const float* a, const float* b, float* to, std::size_t floats) {
  for (std::size_t i = 0; i < floats; i += kLanes) store(relu(hn::Add(load(a + i), load(b + i))), to + i);
}

// to may be a or b.
HWY_NOINLINE inline void sum_all(const float* a, const float* b, float* to, std::size_t floats) {
  for (std::size_t i = 0; i < floats; i += kLanes) store(hn::Add(load(a + i), load(b + i)), to + i);
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
