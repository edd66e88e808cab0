// Bytes of images to floats of a pack. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_PIXELS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_PIXELS_H_
#undef LOCKSTEP_CPU_SIMD_PIXELS_H_
#else
#define LOCKSTEP_CPU_SIMD_PIXELS_H_
#endif
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

// (float)byte / 255, correctly rounded: a quotient by the reciprocal, then one step of correction with the
// exact remainder. Checked for all 256 bytes in kernels_test.cpp.
HWY_INLINE Vec pixel_value(Vec byte) {
  const Vec reciprocal = hn::Set(kTag, 1.0f / 255.0f), divisor = hn::Set(kTag, 255.0f);
  const Vec quotient = hn::Mul(byte, reciprocal);
  return hn::MulAdd(hn::NegMulAdd(quotient, divisor, byte), reciprocal, quotient);
}

HWY_NOINLINE inline void load_pixels(const std::uint8_t* const* examples, int pixels, float* to) {
  const hn::FixedTag<std::uint8_t, 16> bytes;
  const hn::Rebind<std::uint8_t, Tag> narrow;
  const hn::RebindToSigned<Tag> whole;
  int p = 0;
  for (; p + 16 <= pixels; p += 16) {
    // Four rounds of interleaving turn [example][pixel] into [pixel][example].
    hn::Vec<decltype(bytes)> block[16], next[16];
    for (int e = 0; e < 16; ++e) block[e] = hn::LoadU(bytes, examples[e] + p);
    for (int round = 0; round < 4; ++round) {
      for (int e = 0; e < 8; ++e) {
        next[2 * e] = hn::InterleaveLower(bytes, block[e], block[e + 8]);
        next[2 * e + 1] = hn::InterleaveUpper(bytes, block[e], block[e + 8]);
      }
      for (int e = 0; e < 16; ++e) block[e] = next[e];
    }
    for (int i = 0; i < 16; ++i) {
      alignas(16) std::uint8_t row[16];
      hn::Store(block[i], bytes, row);
      HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
        const Vec byte = hn::ConvertTo(kTag, hn::PromoteTo(whole, hn::LoadU(narrow, row + v * kLanes)));
        store(pixel_value(byte), to + (p + i) * kPack + v * kLanes);
      }
    }
  }
  for (; p < pixels; ++p) {
    alignas(64) float row[kPack];
    for (int e = 0; e < kPack; ++e) row[e] = static_cast<float>(examples[e][p]);
    for (int v = 0; v < kVectors; ++v)
      store(pixel_value(load(row + v * kLanes)), to + p * kPack + v * kLanes);
  }
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
