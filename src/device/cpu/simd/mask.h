// Relu's mask: which lanes of a float of a pack were blocked. Per-target header.
#if defined(LOCKSTEP_DEVICE_CPU_SIMD_MASK_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_DEVICE_CPU_SIMD_MASK_H_
#undef LOCKSTEP_DEVICE_CPU_SIMD_MASK_H_
#else
#define LOCKSTEP_DEVICE_CPU_SIMD_MASK_H_
#endif
#include "device/cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::device::cpu::HWY_NAMESPACE {

// One bit a lane, two bytes a pack. Vector v of a pack holds lanes v * kLanes and up.
HWY_INLINE void store_mask(hn::Mask<Tag> mask, std::uint8_t* bytes, int v) {
  if constexpr (kLanes >= 8) {
    hn::StoreMaskBits(kTag, mask, bytes + v * (kLanes / 8));
  } else {
    std::uint8_t bits[8];
    hn::StoreMaskBits(kTag, mask, bits);
    const int shift = (v % 2) * 4;
    bytes[v / 2] = static_cast<std::uint8_t>(shift == 0 ? bits[0] : bytes[v / 2] | (bits[0] << shift));
  }
}

HWY_INLINE hn::Mask<Tag> load_mask(const std::uint8_t* bytes, int v) {
  if constexpr (kLanes >= 8) {
    return hn::LoadMaskBits(kTag, bytes + v * (kLanes / 8));
  } else {
    const std::uint8_t bits[8] = {static_cast<std::uint8_t>((bytes[v / 2] >> ((v % 2) * 4)) & 15)};
    return hn::LoadMaskBits(kTag, bits);
  }
}

}  // namespace lockstep::device::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
