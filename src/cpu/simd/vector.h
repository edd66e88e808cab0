// A pack of 16 lanes as vectors of the current target: one on AVX-512, two on AVX2, four on NEON.
// Per-target header, see hwy/foreach_target.h.
#if defined(LOCKSTEP_CPU_SIMD_VECTOR_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_VECTOR_H_
#undef LOCKSTEP_CPU_SIMD_VECTOR_H_
#else
#define LOCKSTEP_CPU_SIMD_VECTOR_H_
#endif
#include <hwy/highway.h>

#include "arithmetic/pack.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using arithmetic::kPack;

// Names the instruction set to what is not compiled for it (kernel_of.h).
struct Target {
  static constexpr auto kBit = std::int64_t{HWY_TARGET};
};

using Tag = hn::CappedTag<float, kPack>;
using Vec = hn::Vec<Tag>;
constexpr Tag kTag{};
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));
constexpr int kVectors = kPack / kLanes;  // of a pack
constexpr int kRegisters = HWY_TARGET == HWY_AVX2 ? 16 : 32;

HWY_INLINE Vec load(const float* p) { return hn::Load(kTag, p); }
HWY_INLINE Vec load_anywhere(const float* p) { return hn::LoadU(kTag, p); }
HWY_INLINE Vec broadcast(const float* p) { return hn::Set(kTag, *p); }
HWY_INLINE void store(Vec v, float* p) { hn::Store(v, kTag, p); }
HWY_INLINE void store_anywhere(Vec v, float* p) { hn::StoreU(v, kTag, p); }

// Loads and stores are not moved across this: g++ would bring loads of later terms forward and run out of
// registers.
HWY_INLINE void keep_order() { asm volatile("" ::: "memory"); }

// A value that stays in a register: g++ would rather load it again for each of a few uses.
HWY_INLINE Vec in_register(Vec v) {
#if HWY_ARCH_X86
  asm("" : "+v"(v.raw));
#elif HWY_ARCH_ARM_A64
  asm("" : "+w"(v.raw));
#endif
  return v;
}

// Addresses are worked out here, not ahead: g++ would rather keep those of all later terms and run out of
// registers.
template <class... T>
HWY_INLINE void keep_addresses(T*&... p) {
  const auto opaque = [](auto*& address) { asm("" : "+r"(address)); };
  (opaque(p), ...);
}

// A finished sum: its zero is +0.
HWY_INLINE Vec finished(Vec sum) { return hn::Add(sum, hn::Zero(kTag)); }

// x where it is positive or NaN, else +0.
HWY_INLINE Vec relu(Vec x) { return hn::IfThenZeroElse(hn::Le(x, hn::Zero(kTag)), x); }

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
