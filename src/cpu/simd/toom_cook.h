// The one-dimensional transforms of Toom and Cook at the points 0, +-p_i and, for even N, infinity, one
// vector a coefficient. Frequencies stand in the order 0, +p_1, -p_1, +p_2, -p_2, .., infinity. Per-target
// header.
#if defined(LOCKSTEP_CPU_SIMD_TOOM_COOK_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_TOOM_COOK_H_
#undef LOCKSTEP_CPU_SIMD_TOOM_COOK_H_
#else
#define LOCKSTEP_CPU_SIMD_TOOM_COOK_H_
#endif
#include "arithmetic/winograd_constants.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

using arithmetic::WinogradConstants;

// c is known to the compiler; adding or subtracting gives the bits of a multiply-add by 1 or -1.
HWY_INLINE Vec times(float c, Vec x) { return c == 1 ? x : hn::Mul(hn::Set(kTag, c), x); }
HWY_INLINE Vec plus(Vec sum, float c, Vec x) {
  if (c == 1) return hn::Add(sum, x);
  if (c == -1) return hn::Sub(sum, x);
  return hn::MulAdd(hn::Set(kTag, c), x, sum);
}

constexpr bool has_infinity(int n) { return n % 2 == 0; }

// Bt: N inputs to N frequencies.
template <int N>
struct InputTransform {
  using C = WinogradConstants<N>;
  static constexpr int kIn = N, kOut = N, K = C::kPairs;

  static HWY_INLINE void apply(const Vec* d, Vec* f) {
    f[0] = at_end(d);
    if constexpr (has_infinity(N)) f[N - 1] = at_end(d + 1);
    HWY_UNROLL(4) for (int i = 0; i < K; ++i) {
      Vec even = d[2 * K], odd = d[2 * K - 1];
      HWY_UNROLL(4) for (int k = K - 2; k >= 0; --k) {
        even = plus(even, C::q[i][k], d[2 * k + 2]);
        odd = plus(odd, C::q[i][k], d[2 * k + 1]);
      }
      f[2 * i + 1] = plus(even, C::power[i][1], odd);
      f[2 * i + 2] = plus(even, -C::power[i][1], odd);
    }
  }

 private:
  static HWY_INLINE Vec at_end(const Vec* d) {
    Vec sum = d[2 * K];
    HWY_UNROLL(4) for (int k = K - 1; k >= 0; --k) sum = plus(sum, C::z[k], d[2 * k]);
    return sum;
  }
};

// G (scaled, on weights) and A (on output gradients): a polynomial of n coefficients at all points.
template <int N, int n, bool kScaled>
struct Evaluation {
  using C = WinogradConstants<N>;
  static constexpr int kIn = n, kOut = N, K = C::kPairs;

  static HWY_INLINE void apply(const Vec* y, Vec* f) {
    f[0] = times(kScaled ? C::scale0 : 1, y[0]);
    if constexpr (has_infinity(N)) f[N - 1] = y[n - 1];
    HWY_UNROLL(4) for (int i = 0; i < K; ++i) {
      Vec even = y[0], odd = y[1];
      HWY_UNROLL(4) for (int k = 2; k < n; k += 2) even = plus(even, C::power[i][k], y[k]);
      HWY_UNROLL(4) for (int k = 3; k < n; k += 2) odd = plus(odd, C::power[i][k - 1], y[k]);
      const float scale = kScaled ? C::scale[i] : 1;
      f[2 * i + 1] = times(scale, plus(even, C::power[i][1], odd));
      f[2 * i + 2] = times(scale, plus(even, -C::power[i][1], odd));
    }
  }
};

// The sums and differences of the pairs' values.
template <int K>
struct Pairs {
  Vec sum[K], difference[K];

  explicit HWY_INLINE Pairs(const Vec* f) {
    HWY_UNROLL(4) for (int i = 0; i < K; ++i) {
      sum[i] = hn::Add(f[2 * i + 1], f[2 * i + 2]);
      difference[i] = hn::Sub(f[2 * i + 1], f[2 * i + 2]);
    }
  }
};

// At (outputs) and Gt (scaled, weight gradients): back from the frequencies to n coefficients.
template <int N, int n, bool kScaled>
struct Interpolation {
  using C = WinogradConstants<N>;
  static constexpr int kIn = N, kOut = n, K = C::kPairs;

  static HWY_INLINE void apply(const Vec* f, Vec* y) {
    const Pairs<K> pairs(f);
    HWY_UNROLL(8) for (int j = 0; j < n; ++j) {
      const Vec* const x = j % 2 == 0 ? pairs.sum : pairs.difference;
      Vec sum = times(factor(0, j), x[0]);
      HWY_UNROLL(4) for (int i = 1; i < K; ++i) sum = plus(sum, factor(i, j), x[i]);
      if (j == 0) sum = plus(sum, kScaled ? C::scale0 : 1, f[0]);
      if (has_infinity(N) && j == n - 1) sum = hn::Add(sum, f[N - 1]);
      y[j] = sum;
    }
  }

 private:
  static constexpr float factor(int i, int j) { return kScaled ? C::scaled_power[i][j] : C::power[i][j]; }
};

// B, the adjoint of Bt: N frequencies to N input gradients.
template <int N>
struct InputAdjoint {
  using C = WinogradConstants<N>;
  static constexpr int kIn = N, kOut = N, K = C::kPairs;

  static HWY_INLINE void apply(const Vec* f, Vec* x) {
    const Pairs<K> pairs(f);
    x[0] = times(C::z[0], f[0]);
    if constexpr (has_infinity(N)) x[N - 1] = f[N - 1];
    HWY_UNROLL(4) for (int k = 0; k < K; ++k) {
      Vec even = times(C::q[0][k], pairs.sum[0]), odd = times(C::pq[0][k], pairs.difference[0]);
      HWY_UNROLL(4) for (int i = 1; i < K; ++i) {
        even = plus(even, C::q[i][k], pairs.sum[i]);
        odd = plus(odd, C::pq[i][k], pairs.difference[i]);
      }
      x[2 * k + 2] = plus(even, C::z[k + 1], f[0]);
      x[2 * k + 1] = has_infinity(N) ? plus(odd, C::z[k], f[N - 1]) : odd;
    }
  }
};

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
