// The numbers of a group of packs that batch norm computes with, channel by channel. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_BATCH_NORM_NUMBERS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_BATCH_NORM_NUMBERS_H_
#undef LOCKSTEP_CPU_SIMD_BATCH_NORM_NUMBERS_H_
#else
#define LOCKSTEP_CPU_SIMD_BATCH_NORM_NUMBERS_H_
#endif
#include "cpu/jobs/batch_norm.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

// formula(tag, c) for every channel: by vectors, the last channels one by one.
template <class Formula>
HWY_INLINE void for_each_channel(std::size_t count, const Formula& formula) {
  std::size_t c = 0;
  for (; c + kLanes <= count; c += kLanes) formula(kTag, c);
  for (; c < count; ++c) formula(hn::CappedTag<float, 1>(), c);
}

HWY_NOINLINE inline void norm_coefficients(const NormCoefficientsJob& job) {
  for_each_channel(job.count, [&](auto tag, std::size_t c) HWY_ATTR {
    auto variance = hn::LoadU(tag, job.variances + c);
    if (job.numbers != nullptr) variance = hn::Div(variance, hn::LoadU(tag, job.numbers + c));
    const auto mean = hn::LoadU(tag, job.means + c);
    const auto r = hn::Div(hn::Set(tag, 1.0f), hn::Sqrt(hn::Add(variance, hn::Set(tag, job.eps))));
    const auto scale = hn::Mul(hn::LoadU(tag, job.gamma + c), r);
    float* const to = job.coefficients + c;
    hn::StoreU(mean, tag, to);
    hn::StoreU(r, tag, to + job.channels);
    hn::StoreU(scale, tag, to + 2 * job.channels);
    hn::StoreU(hn::MulAdd(hn::Neg(mean), scale, hn::LoadU(tag, job.beta + c)), tag, to + 3 * job.channels);
  });
}

HWY_NOINLINE inline void norm_factors(const NormFactorsJob& job) {
  for_each_channel(job.count, [&](auto tag, std::size_t c) HWY_ATTR {
    const auto number = hn::LoadU(tag, job.triples + c);
    const auto r = hn::LoadU(tag, job.coefficients + job.channels + c);
    const auto a = hn::LoadU(tag, job.coefficients + 2 * job.channels + c);
    const auto dbeta = hn::Div(hn::LoadU(tag, job.sums + c), number);
    const auto dgamma = hn::Div(hn::LoadU(tag, job.sums + job.channels + c), number);
    float* const to = job.factors + c;
    hn::StoreU(a, tag, to);
    hn::StoreU(hn::Neg(hn::Mul(hn::Mul(a, r), dgamma)), tag, to + job.channels);
    hn::StoreU(hn::Neg(hn::Mul(a, dbeta)), tag, to + 2 * job.channels);
  });
}

HWY_NOINLINE inline void norm_running(const NormRunningJob& job) {
  for_each_channel(job.count, [&](auto tag, std::size_t c) HWY_ATTR {
    const auto momentum = hn::Set(tag, job.momentum);
    const auto toward = [&](auto statistic, float* running) HWY_ATTR {
      const auto old = hn::LoadU(tag, running + c);
      hn::StoreU(hn::MulAdd(momentum, hn::Sub(statistic, old), old), tag, running + c);
    };
    const float* const from = job.triples + c;
    const auto one_less = hn::Sub(hn::LoadU(tag, from), hn::Set(tag, 1.0f));
    toward(hn::LoadU(tag, from + job.channels), job.mean);
    toward(hn::Div(hn::LoadU(tag, from + 2 * job.channels), one_less), job.variance);
  });
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
