// Winograd's transforms (Toom-Cook), generated from the table of constants. The order of every rounding is
// the law's, "Fast convolution" in docs/arithmetic.md; what is multiplied between the transforms is a tap
// tile or an outer product. Per-target header.
#if defined(LOCKSTEP_CPU_SIMD_WINOGRAD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCKSTEP_CPU_SIMD_WINOGRAD_H_
#undef LOCKSTEP_CPU_SIMD_WINOGRAD_H_
#else
#define LOCKSTEP_CPU_SIMD_WINOGRAD_H_
#endif
#include "cpu/jobs/winograd.h"
#include "cpu/simd/mask.h"
#include "cpu/simd/toom_cook.h"
#include "cpu/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lockstep::cpu::HWY_NAMESPACE {

// One vector of an image's tile.
template <bool kClipped>
class TileSource {
 public:
  HWY_INLINE TileSource(const float* image, const TileWindow& window) : image_(image), window_(window) {}
  HWY_INLINE Vec operator()(int y, int x) const {
    if (kClipped && (y < window_.first_row || y >= window_.last_row || x < window_.first_column ||
                     x >= window_.last_column)) {
      return hn::Zero(kTag);
    }
    return load(image_ + y * window_.row + x * window_.column);
  }

 private:
  const float* const image_;
  const TileWindow window_;  // copies: vector stores may alias anything
};

// One vector of N x N frequencies.
template <int N>
class FrequencySource {
 public:
  HWY_INLINE FrequencySource(const float* first, std::ptrdiff_t step) : first_(first), step_(step) {}
  HWY_INLINE Vec operator()(int y, int x) const { return load(first_ + (y * N + x) * step_); }

 private:
  const float* const first_;
  const std::ptrdiff_t step_;
};

template <int N>
class FrequencySink {
 public:
  HWY_INLINE FrequencySink(float* first, std::ptrdiff_t step) : first_(first), step_(step) {}
  HWY_INLINE void operator()(int y, int x, Vec v) const {
    store_anywhere(v, first_ + (y * N + x) * step_);  // packed weights stand anywhere
  }

 private:
  float* const first_;
  const std::ptrdiff_t step_;
};

// The same where fewer lanes than a vector's are wanted.
template <int N>
class FewLanesSink {
 public:
  HWY_INLINE FewLanesSink(float* first, std::ptrdiff_t step, int lanes)
      : first_(first), step_(step), wanted_(hn::FirstN(kTag, static_cast<std::size_t>(lanes))) {}
  HWY_INLINE void operator()(int y, int x, Vec v) const {
    hn::BlendedStore(v, wanted_, kTag, first_ + (y * N + x) * step_);
  }

 private:
  float* const first_;
  const std::ptrdiff_t step_;
  const hn::Mask<Tag> wanted_;
};

// Over y for every column, then over x. The two outer loops stay loops: unrolled, a tile would need 36 to
// 81 registers.
template <class Transform, class Source, class Sink>
HWY_INLINE void transform_tile(const Source& source, const Sink& sink) {
  constexpr int kIn = Transform::kIn, kOut = Transform::kOut;
  Vec middle[kOut][kIn];
  for (int x = 0; x < kIn; ++x) {
    Vec in[kIn], out[kOut];
    HWY_UNROLL(9) for (int y = 0; y < kIn; ++y) in[y] = source(y, x);
    Transform::apply(in, out);
    HWY_UNROLL(9) for (int y = 0; y < kOut; ++y) middle[y][x] = out[y];
  }
  for (int y = 0; y < kOut; ++y) {
    Vec out[kOut];
    Transform::apply(middle[y], out);
    HWY_UNROLL(9) for (int x = 0; x < kOut; ++x) sink(y, x, out[x]);
  }
}

template <class Transform, bool kClipped>
HWY_INLINE void into_frequencies_of(const IntoFrequenciesJob& job) {
  constexpr int N = Transform::kOut;
  const TileWindow window = job.window;
  for (int i = 0; i < job.count; ++i) {
    for (int lane = 0; lane < job.lanes; lane += kLanes) {
      transform_tile<Transform>(
          TileSource<kClipped>(job.image + i * job.image_next + lane, window),
          FrequencySink<N>(job.frequencies + i * job.frequencies_next + lane, job.frequency));
    }
  }
}

template <class Transform>
HWY_NOINLINE void into_frequencies(const IntoFrequenciesJob& job) {
  if (job.window.whole(Transform::kIn)) {
    into_frequencies_of<Transform, false>(job);
  } else {
    into_frequencies_of<Transform, true>(job);
  }
}

// Weights: one square of any number of lanes, all of which exists.
template <class Transform>
HWY_NOINLINE void weights_into_frequencies(const IntoFrequenciesJob& job) {
  constexpr int N = Transform::kOut;
  for (int lane = 0; lane < job.lanes; lane += kLanes) {
    const TileSource<false> source(job.image + lane, job.window);
    if (job.lanes - lane >= kLanes) {
      transform_tile<Transform>(source, FrequencySink<N>(job.frequencies + lane, job.frequency));
    } else {
      transform_tile<Transform>(source,
                                FewLanesSink<N>(job.frequencies + lane, job.frequency, job.lanes - lane));
    }
  }
}

// ---- what becomes of a tile that comes back

// Every finish takes elements row by row, then ends the tile.
template <bool kClipped>
class Finish {
 protected:
  HWY_INLINE Finish(const FromFrequenciesJob& job, int i, int lane)
      : window_(job.window), image_(job.image + i * job.image_next + lane) {}
  HWY_INLINE bool inside(int y, int x) const {
    return !kClipped || (y >= window_.first_row && y < window_.last_row && x >= window_.first_column &&
                         x < window_.last_column);
  }
  HWY_INLINE float* at(int y, int x) const { return image_ + y * window_.row + x * window_.column; }

  const TileWindow window_;
  float* const image_;
};

template <bool kClipped>
struct StoreWeightGradient : Finish<kClipped> {
  HWY_INLINE StoreWeightGradient(const FromFrequenciesJob& job, int i, int lane)
      : Finish<kClipped>(job, i, lane) {}
  HWY_INLINE void operator()(int y, int x, Vec v) const { store(finished(v), this->at(y, x)); }
  HWY_INLINE void end() const {}
};

template <bool kRelu>
struct Output {
  template <bool kClipped>
  struct Store : Finish<kClipped> {
    HWY_INLINE Store(const FromFrequenciesJob& job, int i, int lane)
        : Finish<kClipped>(job, i, lane), bias(hn::Set(kTag, job.bias[i])) {}
    HWY_INLINE void operator()(int y, int x, Vec v) const {
      const Vec sum = hn::Add(v, bias);
      if (this->inside(y, x)) store(kRelu ? relu(sum) : finished(sum), this->at(y, x));
    }
    HWY_INLINE void end() const {}

    const Vec bias;
  };
};

// Adds into the sums of earlier tiles; what no tile has seen begins at +0.
template <bool kClipped>
struct AddInputGradient : Finish<kClipped> {
  HWY_INLINE AddInputGradient(const FromFrequenciesJob& job, int i, int lane)
      : Finish<kClipped>(job, i, lane), seen_rows(job.seen_rows), seen_columns(job.seen_columns) {}
  HWY_INLINE void operator()(int y, int x, Vec v) const {
    if (!this->inside(y, x)) return;
    float* const to = this->at(y, x);
    store(y < seen_rows || x < seen_columns ? hn::Add(load(to), v) : finished(v), to);
  }
  HWY_INLINE void end() const {}

  const int seen_rows, seen_columns;
};

// Relu, its mask, and the average of 2x2 windows: ((a + b) + (c + d)) / 4.
template <int kTile>
struct ReluPoolOutput {
  template <bool kClipped>
  struct Store : Finish<kClipped> {
    HWY_INLINE Store(const FromFrequenciesJob& job, int i, int lane)
        : Finish<kClipped>(job, i, lane),
          bias(hn::Set(kTag, job.bias[i])),
          mask(job.mask + i * job.mask_next),
          mask_row(job.mask_row),
          vector(lane / kLanes) {}
    HWY_INLINE void operator()(int y, int x, Vec v) { sums[y][x] = hn::Add(v, bias); }
    HWY_INLINE void end() const {
      for (int y = 0; y < kTile; y += 2) {
        HWY_UNROLL(2) for (int x = 0; x < kTile; x += 2) {
          if (!this->inside(y, x)) continue;
          const Vec window[] = {sums[y][x], sums[y][x + 1], sums[y + 1][x], sums[y + 1][x + 1]};
          store(relu_average(window, mask + y * mask_row + x * 2, mask_row, vector), this->at(y / 2, x / 2));
        }
      }
    }

    const Vec bias;
    std::uint8_t* const mask;
    const std::ptrdiff_t mask_row;
    const int vector;
    Vec sums[kTile][kTile];
  };
};

// Hands a transform's results to a finish that remembers them.
template <class Store>
struct SinkOf {
  Store* to;
  HWY_INLINE void operator()(int y, int x, Vec v) const { (*to)(y, x, v); }
};

template <class Transform, template <bool> class Store, bool kClipped>
HWY_INLINE void from_frequencies_of(const FromFrequenciesJob& job) {
  for (int i = 0; i < job.count; ++i) {
    for (int lane = 0; lane < job.lanes; lane += kLanes) {
      Store<kClipped> to(job, i, lane);
      transform_tile<Transform>(
          FrequencySource<Transform::kIn>(job.frequencies + i * job.frequencies_next + lane, job.frequency),
          SinkOf<Store<kClipped>>{&to});
      to.end();
    }
  }
}

template <class Transform, template <bool> class Store>
HWY_NOINLINE void from_frequencies(const FromFrequenciesJob& job) {
  if (job.window.whole(Transform::kOut)) {
    from_frequencies_of<Transform, Store, false>(job);
  } else {
    from_frequencies_of<Transform, Store, true>(job);
  }
}

// Nothing for an odd tile: windows would lie in two tiles.
template <class At, int kTile>
constexpr FromFrequencies relu_pool_output() {
  if constexpr (kTile % 2 == 0) {
    return from_frequencies<At, ReluPoolOutput<kTile>::template Store>;
  } else {
    return nullptr;
  }
}

template <int kTile, int kKernel>
constexpr Winograd make_winograd() {
  constexpr int N = kTile + kKernel - 1;
  using At = Interpolation<N, kTile, false>;
  return {kTile,
          kKernel,
          into_frequencies<InputTransform<N>>,
          weights_into_frequencies<Evaluation<N, kKernel, true>>,
          into_frequencies<Evaluation<N, kTile, false>>,
          from_frequencies<At, Output<false>::template Store>,
          from_frequencies<At, Output<true>::template Store>,
          relu_pool_output<At, kTile>(),
          from_frequencies<InputAdjoint<N>, AddInputGradient>,
          from_frequencies<Interpolation<N, kKernel, true>, StoreWeightGradient>};
}

}  // namespace lockstep::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
