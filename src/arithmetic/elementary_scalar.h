// The words of elementary.inc as plain C++: one float at a time.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace lockstep::arithmetic::scalar_words {

using Real = float;
using Whole = std::uint32_t;  // wraps; the two right shifts are those of a signed number
using Truth = bool;

inline Real ls_constant(float value) { return value; }
inline Real ls_add(Real a, Real b) { return a + b; }
inline Real ls_sub(Real a, Real b) { return a - b; }
inline Real ls_mul(Real a, Real b) { return a * b; }
inline Real ls_fma(Real a, Real b, Real c) { return std::fma(a, b, c); }
inline Truth ls_less(Real a, Real b) { return a < b; }
inline Truth ls_equal(Real a, Real b) { return a == b; }
inline Real ls_select(Truth truth, Real yes, Real no) { return truth ? yes : no; }

inline Whole ls_whole_constant(int value) { return static_cast<Whole>(value); }
inline Whole ls_whole_add(Whole a, Whole b) { return a + b; }
inline Whole ls_whole_sub(Whole a, Whole b) { return a - b; }
inline Whole ls_shift_left_23(Whole a) { return a << 23; }
inline Whole ls_shift_right_1(Whole a) { return static_cast<Whole>(static_cast<std::int32_t>(a) >> 1); }
inline Whole ls_shift_right_23(Whole a) { return static_cast<Whole>(static_cast<std::int32_t>(a) >> 23); }

inline Whole ls_bits(Real a) { return std::bit_cast<Whole>(a); }
inline Real ls_real_of_bits(Whole a) { return std::bit_cast<Real>(a); }
inline Real ls_real_of_whole(Whole a) { return static_cast<Real>(static_cast<std::int32_t>(a)); }

}  // namespace lockstep::arithmetic::scalar_words
