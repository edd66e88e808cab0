// Sums of packs, of threads and of devices: added, and divided when they are finished. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_JOIN_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_JOIN_H_
#undef LOCKSTEP_CPU_SIMD_JOIN_H_
#else
#define LOCKSTEP_CPU_SIMD_JOIN_H_
#endif
#include "cpu/jobs/join.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

HWY_NOINLINE inline void join_row(const float* values, std::ptrdiff_t offset, std::size_t count,
                                  const JoinTarget& target) {
  const JoinTarget t = target;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const std::size_t at = static_cast<std::size_t>(offset) + i;
    Vec sum = load_anywhere(values + i);
    for (int j = 0; j < t.joins; ++j)
      sum = hn::Add(load_anywhere(t.sums[static_cast<std::size_t>(j)] + at), sum);
    store_anywhere(sum, t.destination + at);
  }
  for (; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(offset) + i;
    float sum = values[i];
    for (int j = 0; j < t.joins; ++j) sum = t.sums[static_cast<std::size_t>(j)][at] + sum;
    t.destination[at] = sum;
  }
}

// A finished sum, divided: (from + 0) / divisor.
HWY_NOINLINE inline void divide(const float* from, float* to, std::size_t count, float divisor) {
  const Vec d = hn::Set(kTag, divisor);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    store_anywhere(hn::Div(finished(load_anywhere(from + i)), d), to + i);
  for (; i < count; ++i) to[i] = (from[i] + 0.0f) / divisor;
}

HWY_NOINLINE inline void add(float* into, const float* from, std::size_t count) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    store_anywhere(hn::Add(load_anywhere(into + i), load_anywhere(from + i)), into + i);
  }
  for (; i < count; ++i) into[i] = into[i] + from[i];
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
