// Batch norm of a pack: statistics and sums of planes, and the passes that go element by element. Per-target
// header.
//
// A chain of sums waits for each of its additions, so the chains of a few channels run side by side: about
// eight vectors of sums keep the adders of today's processors busy. Lanes do not meet in a chain, so an
// absent lane may add anything up: its sum is replaced by +0 before the lane tree.
#if defined(LOCKSTEP_CPU_SIMD_BATCH_NORM_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_BATCH_NORM_H_
#undef LOCKSTEP_CPU_SIMD_BATCH_NORM_H_
#else
#define LOCKSTEP_CPU_SIMD_BATCH_NORM_H_
#endif
#include <algorithm>

#include "cpu/jobs/batch_norm.h"
#include "cpu/simd/lane_chain.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

// Which lanes of a pack hold an example.
class PresentLanes {
 public:
  explicit HWY_INLINE PresentLanes(int present) {
    for (int v = 0; v < kVectors; ++v) {
      const Vec lanes = hn::Iota(kTag, static_cast<float>(v * kLanes));
      present_[v] = hn::Lt(lanes, hn::Set(kTag, static_cast<float>(present)));
    }
  }
  // Vector v of a pack, absent lanes +0.
  HWY_INLINE Vec select(Vec x, int v) const { return hn::IfThenElseZero(present_[v], x); }

 private:
  hn::Mask<Tag> present_[kVectors];
};

// Channels whose sums meet at once, and whose planes are read for their means, then for the deviations from
// these. From 4 to 16 are equally fast from 7x7 to 56x56, fewer are slower (Zen 3).
constexpr int kNormBlock = 8;

// The lane sums of a block of channels, and their trees.
struct NormStage {
  alignas(64) float lanes[kPack * kPack] = {};  // the lane tree reads whole vectors of channels, up to kPack
  alignas(64) float values[kPack] = {}, sums[kPack] = {};

  void meet(int channels) { lane_tree({lanes, 1, channels, values, sums, kPack}); }
};

// ---- statistics

struct AddValue {
  HWY_INLINE Vec operator()(Vec sum, Vec x, int) const { return hn::Add(sum, x); }
};

struct AddSquaredDeviation {
  const float* means;
  HWY_INLINE Vec operator()(Vec sum, Vec x, int channel) const {
    const Vec d = hn::Sub(x, broadcast(means + channel));
    return hn::MulAdd(d, d, sum);
  }
};

// Sums per lane of channels [first, count) of x. A plane has `plane` floats.
template <int kChannels, class Term>
HWY_INLINE void norm_lane_sums(const float* x, std::ptrdiff_t plane, int first, int count, const Term& term,
                               const PresentLanes& present, float* lanes) {
  int c = first;
  for (; c + kChannels <= count; c += kChannels) {
    Vec sum[kChannels][kVectors];
    HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) {
      HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) sum[o][v] = hn::Zero(kTag);
    }
    const float* const start = x + c * plane;
    for (std::ptrdiff_t p = 0; p < plane; p += kPack) {
      HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) {
        HWY_UNROLL(4)
        for (int v = 0; v < kVectors; ++v)
          sum[o][v] = term(sum[o][v], load(start + o * plane + p + v * kLanes), c + o);
      }
    }
    HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) {
      HWY_UNROLL(4)
      for (int v = 0; v < kVectors; ++v)
        store(present.select(sum[o][v], v), lanes + (c + o) * kPack + v * kLanes);
    }
  }
  if constexpr (kChannels > 1) norm_lane_sums<kChannels / 2>(x, plane, c, count, term, present, lanes);
}

HWY_NOINLINE inline void norm_statistics(const NormStatisticsJob& job) {
  constexpr int kSideBySide = 8 / kVectors;
  const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(job.positions) * kPack;
  const PresentLanes present(job.present);
  const auto n = static_cast<float>(job.present * job.positions);
  NormStage stage;
  alignas(64) float means[kPack];
  for (int c = 0; c < job.channels; c += kNormBlock) {
    const int count = std::min(kNormBlock, job.channels - c);
    const float* const x = job.x + c * plane;
    norm_lane_sums<kSideBySide>(x, plane, 0, count, AddValue{}, present, stage.lanes);
    stage.meet(count);
    for (int v = 0; v < kVectors; ++v)
      store(hn::Div(load(stage.sums + v * kLanes), hn::Set(kTag, n)), means + v * kLanes);
    norm_lane_sums<kSideBySide>(x, plane, 0, count, AddSquaredDeviation{means}, present, stage.lanes);
    stage.meet(count);
    std::fill_n(job.triples + c, count, n);
    std::copy_n(means, count, job.triples + job.channels + c);
    std::copy_n(stage.sums, count, job.triples + 2 * job.channels + c);
  }
}

// ---- forward

template <bool kRelu, bool kSum>
HWY_INLINE void norm_forward_of(const NormForwardJob& job) {
  const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(job.positions) * kPack;
  for (int c = 0; c < job.channels; ++c) {
    const Vec scale = broadcast(job.coefficients + 2 * job.channels + c);
    const Vec shift = broadcast(job.coefficients + 3 * job.channels + c);
    for (std::ptrdiff_t p = c * plane; p < (c + 1) * plane; p += kPack) {
      HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
        const std::ptrdiff_t at = p + v * kLanes;
        Vec y = hn::MulAdd(load(job.x + at), scale, shift);
        if constexpr (kSum) y = hn::Add(y, load(job.addend + at));
        store(kRelu ? relu(y) : y, job.y + at);
      }
    }
  }
}

HWY_NOINLINE inline void norm_forward(const NormForwardJob& job) {
  if (job.addend != nullptr)
    return job.relu ? norm_forward_of<true, true>(job) : norm_forward_of<false, true>(job);
  if (job.relu) return norm_forward_of<true, false>(job);
  norm_forward_of<false, false>(job);
}

// ---- backward

// What a relu lets pass of dy. It lets pass where its input is above zero, and its input is the norm of x,
// rounded as in the forward pass. x is in a register already, so this takes less time than reading y.
template <bool kRelu>
class NormGradient {
 public:
  HWY_INLINE NormGradient(const NormBackward& job, int channel)
      : scale_(broadcast(job.coefficients + 2 * job.channels + channel)),
        shift_(broadcast(job.coefficients + 3 * job.channels + channel)) {}
  HWY_INLINE Vec operator()(Vec dy, Vec x) const {
    if constexpr (kRelu) return hn::IfThenElseZero(hn::Gt(hn::MulAdd(x, scale_, shift_), hn::Zero(kTag)), dy);
    return dy;
  }

 private:
  const Vec scale_, shift_;
};

// Sums per lane of channels [first, count), which are counted from `channel`: of dy and of dy * h.
template <int kChannels, bool kRelu>
HWY_INLINE void norm_gradient_lane_sums(const NormBackward& job, int channel, int first, int count,
                                        NormStage& of_dy, NormStage& of_dy_h) {
  const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(job.positions) * kPack;
  const PresentLanes present(job.present);
  const float* const means = job.coefficients + channel;
  const float* const rs = means + job.channels;
  int c = first;
  for (; c + kChannels <= count; c += kChannels) {
    Vec beta[kChannels][kVectors], gamma[kChannels][kVectors];
    HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) {
      HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) beta[o][v] = gamma[o][v] = hn::Zero(kTag);
    }
    const std::ptrdiff_t start = (channel + c) * plane;
    for (std::ptrdiff_t p = start; p < start + plane; p += kPack) {
      HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) {
        const Vec mean = broadcast(means + c + o), r = broadcast(rs + c + o);
        const NormGradient<kRelu> passed(job, channel + c + o);
        HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
          const std::ptrdiff_t at = p + o * plane + v * kLanes;
          const Vec x = load(job.x + at), dy = passed(load(job.dy + at), x);
          const Vec h = hn::Mul(hn::Sub(x, mean), r);
          beta[o][v] = hn::Add(beta[o][v], dy);
          gamma[o][v] = hn::MulAdd(dy, h, gamma[o][v]);
        }
      }
    }
    HWY_UNROLL(8) for (int o = 0; o < kChannels; ++o) {
      HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
        const int to = (c + o) * kPack + v * kLanes;
        store(present.select(beta[o][v], v), of_dy.lanes + to);
        store(present.select(gamma[o][v], v), of_dy_h.lanes + to);
      }
    }
  }
  if constexpr (kChannels > 1)
    norm_gradient_lane_sums<kChannels / 2, kRelu>(job, channel, c, count, of_dy, of_dy_h);
}

template <bool kRelu>
HWY_INLINE void norm_sums_of(const NormBackward& job, float* sums) {
  constexpr int kSideBySide = std::max(1, 4 / kVectors);
  NormStage of_dy, of_dy_h;
  for (int c = 0; c < job.channels; c += kNormBlock) {
    const int count = std::min(kNormBlock, job.channels - c);
    norm_gradient_lane_sums<kSideBySide, kRelu>(job, c, 0, count, of_dy, of_dy_h);
    of_dy.meet(count);
    of_dy_h.meet(count);
    std::copy_n(of_dy.sums, count, sums + c);
    std::copy_n(of_dy_h.sums, count, sums + job.channels + c);
  }
}

HWY_NOINLINE inline void norm_sums(const NormBackward& job, float* sums) {
  if (job.relu) return norm_sums_of<true>(job, sums);
  norm_sums_of<false>(job, sums);
}

template <bool kRelu>
HWY_INLINE void norm_input_gradient_of(const NormBackward& job, const float* factors, float* dx) {
  const std::ptrdiff_t plane = static_cast<std::ptrdiff_t>(job.positions) * kPack;
  const PresentLanes present(job.present);
  for (int c = 0; c < job.channels; ++c) {
    const Vec mean = broadcast(job.coefficients + c);
    const Vec a = broadcast(factors + c), b = broadcast(factors + job.channels + c);
    const Vec e = broadcast(factors + 2 * job.channels + c);
    const NormGradient<kRelu> passed(job, c);
    for (std::ptrdiff_t p = c * plane; p < (c + 1) * plane; p += kPack) {
      HWY_UNROLL(4) for (int v = 0; v < kVectors; ++v) {
        const std::ptrdiff_t at = p + v * kLanes;
        const Vec x = load(job.x + at), dy = passed(load(job.dy + at), x);
        const Vec back = hn::MulAdd(b, hn::Sub(x, mean), e);
        store(present.select(finished(hn::MulAdd(a, dy, back)), v), dx + at);
      }
    }
  }
}

HWY_NOINLINE inline void norm_input_gradient(const NormBackward& job, const float* factors, float* dx) {
  if (job.relu) return norm_input_gradient_of<true>(job, factors, dx);
  norm_input_gradient_of<false>(job, factors, dx);
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
