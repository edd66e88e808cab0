// Pools with any window, stride and padding. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_POOLING_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_POOLING_H_
#undef LOCKSTEP_CPU_SIMD_POOLING_H_
#else
#define LOCKSTEP_CPU_SIMD_POOLING_H_
#endif
#include "cpu/jobs/pool.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

template <class Visit>
HWY_INLINE void for_taps_inside(const PoolJob& job, int oy, int ox, Visit visit) {
  for (int ky = 0; ky < job.window_height; ++ky) {
    const int y = oy * job.stride_height + ky - job.padding_height;
    if (y < 0 || y >= job.height) continue;
    for (int kx = 0; kx < job.window_width; ++kx) {
      const int x = ox * job.stride_width + kx - job.padding_width;
      if (x >= 0 && x < job.width) visit((static_cast<std::ptrdiff_t>(y) * job.width + x) * kPack);
    }
  }
}

// Calls visit(input of the channel, output position, oy, ox, vector) for every output.
template <class Visit>
HWY_INLINE void for_outputs(const PoolJob& job, Visit visit) {
  const std::ptrdiff_t in_channel = static_cast<std::ptrdiff_t>(job.height) * job.width * kPack,
                       out_channel = static_cast<std::ptrdiff_t>(job.out_height) * job.out_width * kPack;
  for (int c = 0; c < job.channels; ++c) {
    for (int oy = 0; oy < job.out_height; ++oy) {
      for (int ox = 0; ox < job.out_width; ++ox) {
        const std::ptrdiff_t out =
            c * out_channel + (static_cast<std::ptrdiff_t>(oy) * job.out_width + ox) * kPack;
        HWY_UNROLL(4)
        for (int v = 0; v < kVectors; ++v) visit(c * in_channel + v * kLanes, out + v * kLanes, oy, ox);
      }
    }
  }
}

inline float window_share(const PoolJob& job) {
  return 1.0f / static_cast<float>(job.window_height * job.window_width);
}

HWY_NOINLINE inline void average_pool(const PoolJob& job) {
  const Vec share = hn::Set(kTag, window_share(job));
  const bool two_by_two = job.window_height == 2 && job.window_width == 2;
  for_outputs(job, [&](std::ptrdiff_t in, std::ptrdiff_t out, int oy, int ox) HWY_ATTR {
    const int y = oy * job.stride_height - job.padding_height, x = ox * job.stride_width - job.padding_width;
    Vec sum = hn::Zero(kTag);
    if (two_by_two && y >= 0 && x >= 0 && y + 1 < job.height && x + 1 < job.width) {
      const float* const top = job.from + in + (static_cast<std::ptrdiff_t>(y) * job.width + x) * kPack;
      const float* const bottom = top + static_cast<std::ptrdiff_t>(job.width) * kPack;
      sum = hn::Add(hn::Add(load(top), load(top + kPack)), hn::Add(load(bottom), load(bottom + kPack)));
    } else {
      for_taps_inside(job, oy, ox,
                      [&](std::ptrdiff_t tap) HWY_ATTR { sum = hn::Add(sum, load(job.from + in + tap)); });
    }
    store(finished(hn::Mul(sum, share)), job.to + out);
  });
}

inline void clear_input_gradient(const PoolJob& job) {
  const std::ptrdiff_t floats = static_cast<std::ptrdiff_t>(job.channels) * job.height * job.width * kPack;
  for (std::ptrdiff_t i = 0; i < floats; ++i) job.to[i] = 0.0f;
}

HWY_NOINLINE inline void average_pool_gradient(const PoolJob& job) {
  const Vec share = hn::Set(kTag, window_share(job));
  clear_input_gradient(job);
  for_outputs(job, [&](std::ptrdiff_t in, std::ptrdiff_t out, int oy, int ox) HWY_ATTR {
    const Vec part = hn::Mul(load(job.from + out), share);
    for_taps_inside(job, oy, ox, [&](std::ptrdiff_t tap) HWY_ATTR {
      float* const dx = job.to + in + tap;
      store(hn::Add(load(dx), part), dx);
    });
  });
}

// The chosen tap of a window: the first, replaced by one that is greater, or NaN when the chosen is not.
struct Maximum {
  Vec value, tap;
};
HWY_INLINE Maximum window_maximum(const PoolJob& job, const float* x, int oy, int ox) {
  Maximum best{hn::Zero(kTag), hn::Zero(kTag)};
  float index = 0;  // small integers are exact
  for_taps_inside(job, oy, ox, [&](std::ptrdiff_t tap) HWY_ATTR {
    const Vec candidate = load(x + tap), number = hn::Set(kTag, index);
    if (index == 0) {
      best.value = candidate;
    } else {
      const auto fresh_nan = hn::AndNot(hn::IsNaN(best.value), hn::IsNaN(candidate));
      const auto better = hn::Or(hn::Gt(candidate, best.value), fresh_nan);
      best.value = hn::IfThenElse(better, candidate, best.value);
      best.tap = hn::IfThenElse(better, number, best.tap);
    }
    ++index;
  });
  return best;
}

HWY_NOINLINE inline void maximum_pool(const PoolJob& job) {
  for_outputs(job, [&](std::ptrdiff_t in, std::ptrdiff_t out, int oy, int ox) HWY_ATTR {
    store(finished(window_maximum(job, job.from + in, oy, ox).value), job.to + out);
  });
}

HWY_NOINLINE inline void maximum_pool_gradient(const PoolJob& job) {
  clear_input_gradient(job);
  for_outputs(job, [&](std::ptrdiff_t in, std::ptrdiff_t out, int oy, int ox) HWY_ATTR {
    const Vec chosen = window_maximum(job, job.x + in, oy, ox).tap, dy = load(job.from + out);
    float index = 0;
    for_taps_inside(job, oy, ox, [&](std::ptrdiff_t tap) HWY_ATTR {
      float* const dx = job.to + in + tap;
      store(hn::Add(load(dx), hn::IfThenElseZero(hn::Eq(chosen, hn::Set(kTag, index)), dy)), dx);
      ++index;
    });
  });
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
