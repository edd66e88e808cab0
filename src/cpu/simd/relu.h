// Relu of activations, and its gradient. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_RELU_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_RELU_H_
#undef LOCKSTEP_CPU_SIMD_RELU_H_
#else
#define LOCKSTEP_CPU_SIMD_RELU_H_
#endif
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

HWY_NOINLINE inline void relu_all(const float* x, float* y, std::size_t floats) {
  for (std::size_t i = 0; i < floats; i += kLanes) store(relu(load(x + i)), y + i);
}

HWY_NOINLINE inline void relu_gradient(const float* dy, const float* y, float* dx, std::size_t floats) {
  const Vec zero = hn::Zero(kTag);
  for (std::size_t i = 0; i < floats; i += kLanes) {
    store(hn::IfThenElseZero(hn::Gt(load(y + i), zero), load(dy + i)), dx + i);
  }
}

// The same of dy = a + b. dx may be a or b.
HWY_NOINLINE inline void relu_gradient_of_sum(const float* a, const float* b, const float* y, float* dx,
                                              std::size_t floats) {
  const Vec zero = hn::Zero(kTag);
  for (std::size_t i = 0; i < floats; i += kLanes) {
    const Vec dy = hn::Add(load(a + i), load(b + i));
    store(hn::IfThenElseZero(hn::Gt(load(y + i), zero), dy), dx + i);
  }
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
