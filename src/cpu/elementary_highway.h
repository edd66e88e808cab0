// exp and log of the law in vectors of the current target: ls_exp(Real), ls_log(Real). These are the words of
// arithmetic/elementary.inc; a target that does not fuse multiply-add gets none.
#if defined(LOCKSTEP_CPU_ELEMENTARY_HIGHWAY_H_) == defined(HWY_TARGET_TOGGLE)  // once per target
#ifdef LOCKSTEP_CPU_ELEMENTARY_HIGHWAY_H_
#undef LOCKSTEP_CPU_ELEMENTARY_HIGHWAY_H_
#else
#define LOCKSTEP_CPU_ELEMENTARY_HIGHWAY_H_
#endif
#include <hwy/highway.h>

#include "arithmetic/pack.h"

HWY_BEFORE_NAMESPACE();
#if HWY_NATIVE_FMA
namespace lockstep::cpu::HWY_NAMESPACE::elementary {
namespace hn = hwy::HWY_NAMESPACE;

using RealTag = hn::CappedTag<float, arithmetic::kPack>;
using WholeTag = hn::RebindToSigned<RealTag>;
using Real = hn::Vec<RealTag>;
using Whole = hn::Vec<WholeTag>;
using Truth = hn::Mask<RealTag>;

HWY_INLINE Real ls_constant(float value) { return hn::Set(RealTag(), value); }
HWY_INLINE Real ls_add(Real a, Real b) { return hn::Add(a, b); }
HWY_INLINE Real ls_sub(Real a, Real b) { return hn::Sub(a, b); }
HWY_INLINE Real ls_mul(Real a, Real b) { return hn::Mul(a, b); }
HWY_INLINE Real ls_fma(Real a, Real b, Real c) { return hn::MulAdd(a, b, c); }
HWY_INLINE Truth ls_less(Real a, Real b) { return hn::Lt(a, b); }
HWY_INLINE Truth ls_equal(Real a, Real b) { return hn::Eq(a, b); }
HWY_INLINE Real ls_select(Truth truth, Real yes, Real no) { return hn::IfThenElse(truth, yes, no); }

HWY_INLINE Whole ls_whole_constant(int value) { return hn::Set(WholeTag(), value); }
HWY_INLINE Whole ls_whole_add(Whole a, Whole b) { return hn::Add(a, b); }
HWY_INLINE Whole ls_whole_sub(Whole a, Whole b) { return hn::Sub(a, b); }
HWY_INLINE Whole ls_shift_left_23(Whole a) { return hn::ShiftLeft<23>(a); }
HWY_INLINE Whole ls_shift_right_1(Whole a) { return hn::ShiftRight<1>(a); }
HWY_INLINE Whole ls_shift_right_23(Whole a) { return hn::ShiftRight<23>(a); }

HWY_INLINE Whole ls_bits(Real a) { return hn::BitCast(WholeTag(), a); }
HWY_INLINE Real ls_real_of_bits(Whole a) { return hn::BitCast(RealTag(), a); }
HWY_INLINE Real ls_real_of_whole(Whole a) { return hn::ConvertTo(RealTag(), a); }

#include "arithmetic/elementary.inc"

}  // namespace lockstep::cpu::HWY_NAMESPACE::elementary
#endif
HWY_AFTER_NAMESPACE();
#endif
