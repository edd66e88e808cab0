// Operations on plain runs of floats. Per-target header.
#if defined(LOCKSTEP_DEVICE_CPU_SIMD_ELEMENTWISE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_DEVICE_CPU_SIMD_ELEMENTWISE_H_
#undef LOCKSTEP_DEVICE_CPU_SIMD_ELEMENTWISE_H_
#else
#define LOCKSTEP_DEVICE_CPU_SIMD_ELEMENTWISE_H_
#endif
#include "cpu/kernels.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

HWY_NOINLINE inline void relu_all(const float* x, float* y, std::size_t floats) {
  for (std::size_t i = 0; i < floats; i += kLanes) store(relu(load(x + i)), y + i);
}

// to may be a or b.
HWY_NOINLINE inline void sum_all(const float* a, const float* b, float* to, std::size_t floats) {
  for (std::size_t i = 0; i < floats; i += kLanes) store(hn::Add(load(a + i), load(b + i)), to + i);
}

HWY_NOINLINE inline void relu_gradient(const float* dy, const float* y, float* dx, std::size_t floats) {
  const Vec zero = hn::Zero(kTag);
  for (std::size_t i = 0; i < floats; i += kLanes) {
    store(hn::IfThenElseZero(hn::Gt(load(y + i), zero), load(dy + i)), dx + i);
  }
}

// kChannels at a time, so that their chains overlap.
template <int kChannels>
HWY_INLINE void bias_sums_of(const float* dy, int positions, float* sums) {
  HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
    Vec sum[kChannels];
    HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) sum[o] = hn::Zero(kTag);
    for (int p = 0; p < positions; ++p) {
      HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) {
        sum[o] =
            hn::Add(sum[o], load(dy + (static_cast<std::ptrdiff_t>(o) * positions + p) * kPack + v * kLanes));
      }
    }
    HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) store(sum[o], sums + o * kPack + v * kLanes);
  }
}

HWY_NOINLINE inline void bias_sums(const float* dy, int channels, int positions, float* sums) {
  const std::ptrdiff_t channel = static_cast<std::ptrdiff_t>(positions) * kPack;
  int c = 0;
  for (; c + 8 <= channels; c += 8) bias_sums_of<8>(dy + c * channel, positions, sums + c * kPack);
  for (; c < channels; ++c) bias_sums_of<1>(dy + c * channel, positions, sums + c * kPack);
}

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

HWY_NOINLINE inline bool all_finite(const float* values, std::size_t count) {
  // x - x is NaN exactly when x is not finite.
  auto bad = hn::IsNaN(hn::Zero(kTag));
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vec x = load_anywhere(values + i);
    bad = hn::Or(bad, hn::IsNaN(hn::Sub(x, x)));
  }
  bool finite = hn::AllFalse(kTag, bad);
  for (; i < count; ++i) {
    const float difference = values[i] - values[i];
    finite = finite && difference == difference;
  }
  return finite;
}

// A vector of one value, so that a tail is fused like the rest.
HWY_INLINE float fused(float factor, float x, float y) {
  const hn::CappedTag<float, 1> one;
  return hn::GetLane(hn::MulAdd(hn::Set(one, factor), hn::Set(one, x), hn::Set(one, y)));
}

// w = fma(-lr, g, w)
HWY_NOINLINE inline void sgd(float* weights, const float* gradient, std::size_t count, float learning_rate) {
  const Vec rate = hn::Set(kTag, -learning_rate);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    store_anywhere(hn::MulAdd(rate, load_anywhere(gradient + i), load_anywhere(weights + i)), weights + i);
  }
  for (; i < count; ++i) weights[i] = fused(-learning_rate, gradient[i], weights[i]);
}

// v = fma(mu, v, g), w = fma(-lr, v, w)
HWY_NOINLINE inline void momentum_sgd(float* weights, float* velocity, const float* gradient,
                                      std::size_t count, const MomentumRates& rates) {
  const Vec rate = hn::Set(kTag, -rates.learning_rate), momentum = hn::Set(kTag, rates.momentum);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vec v = hn::MulAdd(momentum, load_anywhere(velocity + i), load_anywhere(gradient + i));
    store_anywhere(v, velocity + i);
    store_anywhere(hn::MulAdd(rate, v, load_anywhere(weights + i)), weights + i);
  }
  for (; i < count; ++i) {
    velocity[i] = fused(rates.momentum, velocity[i], gradient[i]);
    weights[i] = fused(-rates.learning_rate, velocity[i], weights[i]);
  }
}

// Enough independent chains to keep every multiplier busy, all in registers.
HWY_NOINLINE inline double fma_peak(std::int64_t rounds) {
  constexpr int kChains = kRegisters == 16 ? 12 : 24;
  const Vec factor = hn::Set(kTag, 0.999f), term = hn::Set(kTag, 1e-7f);
  Vec sum[kChains];
  HWY_UNROLL(24) for (int i = 0; i < kChains; ++i) sum[i] = hn::Set(kTag, static_cast<float>(i) * 1e-6f);
  for (std::int64_t round = 0; round < rounds; ++round) {
    HWY_UNROLL(24) for (int i = 0; i < kChains; ++i) sum[i] = hn::MulAdd(sum[i], factor, term);
#if HWY_ARCH_X86
    HWY_UNROLL(24) for (int i = 0; i < kChains; ++i) asm volatile("" : "+v"(sum[i].raw));
#endif
  }
  Vec all = sum[0];
  HWY_UNROLL(24) for (int i = 1; i < kChains; ++i) all = hn::Add(all, sum[i]);
  alignas(64) float kept[kLanes];
  store(all, kept);
  asm volatile("" : : "m"(kept) : "memory");  // the result counts as used
  return static_cast<double>(rounds) * kChains * kLanes;
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
