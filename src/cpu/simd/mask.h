// Relu's mask: which lanes of a float of a pack were blocked. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_MASK_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_MASK_H_
#undef LOCKSTEP_CPU_SIMD_MASK_H_
#else
#define LOCKSTEP_CPU_SIMD_MASK_H_
#endif
#include <cstdint>
#include <cstring>

#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

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

// Relu of vector v of a pack, and its mask.
HWY_INLINE Vec masked_relu(Vec x, std::uint8_t* mask, int v) {
  const auto blocked = hn::Le(x, hn::Zero(kTag));
  store_mask(blocked, mask, v);
  return hn::IfThenZeroElse(blocked, x);
}

// The same of a 2x2 window, top left and right, bottom left and right, and the average of the four.
HWY_INLINE Vec relu_average(const Vec (&x)[4], std::uint8_t* mask, std::ptrdiff_t mask_row, int v) {
  const Vec top = hn::Add(masked_relu(x[0], mask, v), masked_relu(x[1], mask + 2, v));
  mask += mask_row;
  const Vec bottom = hn::Add(masked_relu(x[2], mask, v), masked_relu(x[3], mask + 2, v));
  return hn::Mul(hn::Add(top, bottom), hn::Set(kTag, 0.25f));
}

// The bit of each lane of two packs in a word.
struct LaneBits {
  alignas(64) std::uint32_t bits[2 * kVectors][kLanes];
};
constexpr LaneBits lane_bits() {
  LaneBits all{};
  for (int lane = 0; lane < 2 * kPack; ++lane) all.bits[lane / kLanes][lane % kLanes] = 1U << lane;
  return all;
}
constexpr LaneBits kLaneBits = lane_bits();

// The masks of two neighbouring positions: four bytes.
class MaskPair {
 public:
  explicit HWY_INLINE MaskPair(const std::uint8_t* bytes) : bytes_(bytes) {
    std::uint32_t word;
    std::memcpy(&word, bytes, sizeof(word));
    bits_ = hn::Set(kBitsTag, word);
  }
  // x where vector v of the position (0 or 1) was not blocked, else +0.
  HWY_INLINE Vec pass(Vec x, int position, int v) const {
    if constexpr (kLanes == kPack) {
      return hn::IfThenZeroElse(hn::LoadMaskBits(kTag, bytes_ + 2 * position), x);
    } else {
      const auto own = hn::Load(kBitsTag, kLaneBits.bits[position * kVectors + v]);
      const auto passed = hn::Eq(hn::And(bits_, own), hn::Zero(kBitsTag));
      return hn::IfThenElseZero(hn::RebindMask(kTag, passed), x);
    }
  }

 private:
  using BitsTag = hn::RebindToUnsigned<Tag>;
  static constexpr BitsTag kBitsTag{};

  const std::uint8_t* bytes_;
  hn::Vec<BitsTag> bits_;  // the word in every lane
};

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
