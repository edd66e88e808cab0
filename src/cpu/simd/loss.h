// Softmax cross entropy of a pack. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_LOSS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_LOSS_H_
#undef LOCKSTEP_CPU_SIMD_LOSS_H_
#else
#define LOCKSTEP_CPU_SIMD_LOSS_H_
#endif
#include "cpu/elementary_highway.h"
#include "cpu/jobs/loss.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

HWY_NOINLINE inline void softmax_cross_entropy(const LossJob& job) {
  alignas(64) float lane_numbers[kPack], labels[kPack];
  for (int lane = 0; lane < kPack; ++lane) {
    lane_numbers[lane] = static_cast<float>(lane);
    labels[lane] = lane < job.present ? static_cast<float>(job.labels[lane]) : 0.0f;
  }
  const Vec present_lanes = hn::Set(kTag, static_cast<float>(job.present));
  const hn::RebindToSigned<Tag> whole;
  HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
    const float* const z = job.z + v * kLanes;
    const auto z_of = [&](int c) HWY_ATTR { return load(z + c * kPack); };
    const auto present = hn::Lt(load(lane_numbers + v * kLanes), present_lanes);
    const Vec label = load(labels + v * kLanes);

    // the first maximum
    Vec top = z_of(0), top_class = hn::Zero(kTag);
    for (int c = 1; c < job.classes; ++c) {
      const auto greater = hn::Gt(z_of(c), top);
      top = hn::IfThenElse(greater, z_of(c), top);
      top_class = hn::IfThenElse(greater, hn::Set(kTag, static_cast<float>(c)), top_class);
    }
    // the sum of exponentials, in class order
    Vec sum = hn::Zero(kTag), at_label = hn::Zero(kTag);
    for (int c = 0; c < job.classes; ++c) {
      const Vec shifted = hn::Sub(z_of(c), top);
      sum = c == 0 ? elementary::ls_exp(shifted) : hn::Add(sum, elementary::ls_exp(shifted));
      at_label = hn::IfThenElse(hn::Eq(label, hn::Set(kTag, static_cast<float>(c))), shifted, at_label);
    }
    const Vec loss = hn::Sub(elementary::ls_log(sum), at_label);
    store(hn::IfThenElseZero(present, loss), job.loss + v * kLanes);
    hn::Store(hn::ConvertTo(whole, top_class), whole, job.predicted + v * kLanes);
    if (job.dz == nullptr) continue;
    for (int c = 0; c < job.classes; ++c) {
      const Vec p = hn::Div(elementary::ls_exp(hn::Sub(z_of(c), top)), sum);
      const auto is_label = hn::Eq(label, hn::Set(kTag, static_cast<float>(c)));
      const Vec dz = hn::Sub(p, hn::IfThenElseZero(is_label, hn::Set(kTag, 1.0f)));
      store(hn::IfThenElseZero(present, dz), job.dz + c * kPack + v * kLanes);
    }
  }
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
