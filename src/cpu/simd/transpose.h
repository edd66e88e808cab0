// [channel][lane] to [lane][channel]. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_TRANSPOSE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_TRANSPOSE_H_
#undef LOCKSTEP_CPU_SIMD_TRANSPOSE_H_
#else
#define LOCKSTEP_CPU_SIMD_TRANSPOSE_H_
#endif
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

using Quad = hn::FixedTag<float, 4>;

// Four lanes of as many channels as a vector has blocks of 128 bits, each `step` behind the one before.
// Blocks come together from memory, which costs fewer shuffles than turning them in registers.
template <int kBlocks>
HWY_INLINE auto load_blocks(const float* p, std::ptrdiff_t step) {
  if constexpr (kBlocks == 1) {
    return hn::LoadU(Quad(), p);
  } else {
    const hn::FixedTag<float, 4 * kBlocks> whole;
    return hn::Combine(whole, load_blocks<kBlocks / 2>(p + kBlocks / 2 * step, step),
                       load_blocks<kBlocks / 2>(p, step));
  }
}

// 4 x kBlocks channels: within each block a 4x4 square is turned by two rounds of interleaving.
template <int kBlocks>
HWY_INLINE void transpose_channels(const float* from, std::ptrdiff_t from_step, float* to,
                                   std::ptrdiff_t to_step) {
  const hn::FixedTag<float, 4 * kBlocks> tag;
  const hn::RepartitionToWide<decltype(tag)> pair;
  for (int lane = 0; lane < kPack; lane += 4) {
    const float* const p = from + lane;
    const auto a = load_blocks<kBlocks>(p, 4 * from_step),
               b = load_blocks<kBlocks>(p + from_step, 4 * from_step),
               u = load_blocks<kBlocks>(p + 2 * from_step, 4 * from_step),
               v = load_blocks<kBlocks>(p + 3 * from_step, 4 * from_step);
    const auto ab0 = hn::BitCast(pair, hn::InterleaveLower(tag, a, b)),
               ab1 = hn::BitCast(pair, hn::InterleaveUpper(tag, a, b)),
               uv0 = hn::BitCast(pair, hn::InterleaveLower(tag, u, v)),
               uv1 = hn::BitCast(pair, hn::InterleaveUpper(tag, u, v));
    float* const q = to + lane * to_step;
    hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(pair, ab0, uv0)), tag, q);
    hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(pair, ab0, uv0)), tag, q + to_step);
    hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(pair, ab1, uv1)), tag, q + 2 * to_step);
    hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(pair, ab1, uv1)), tag, q + 3 * to_step);
  }
}

HWY_NOINLINE inline void transpose_pack(const float* from, std::ptrdiff_t from_step, float* to,
                                        std::ptrdiff_t to_step, int channels) {
  int c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    transpose_channels<kLanes / 4>(from + c * from_step, from_step, to + c, to_step);
  }
  for (; c < channels; c += 4) transpose_channels<1>(from + c * from_step, from_step, to + c, to_step);
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
