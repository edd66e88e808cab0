#include "cpu/winograd_weights.h"

#include <algorithm>
#include <array>

namespace lockstep::cpu {
namespace {

constexpr int kMostTaps = 5 * 5, kMostFrequencies = 9 * 9;

// Numbers of sixteen channels, a channel a lane.
template <int kCount>
struct alignas(64) Lanes {
  std::array<float, static_cast<std::size_t>(kCount) * kPack> values{};
};

}  // namespace

WinogradWeights::WinogradWeights(const program::Convolution& c, const ProductLayout& forward,
                                 const std::optional<ProductLayout>& input_gradient, const Kernels& kernels)
    : kernels_(kernels),
      winograd_(winograd_of(kernels, c)),
      frequencies_(winograd_.side() * winograd_.side()),
      forward_(forward),
      input_gradient_(input_gradient) {}

std::size_t WinogradWeights::prepared_floats() const {
  const std::ptrdiff_t steps = forward_.weight_step + (input_gradient_ ? input_gradient_->weight_step : 0);
  return static_cast<std::size_t>(frequencies_ * steps);
}

// Each direction has its own output channels in the lanes: they are neighbours in a row of prepared weights.
void WinogradWeights::prepare(const float* weights, float* prepared, int part, int parts) const {
  const std::ptrdiff_t taps = static_cast<std::ptrdiff_t>(winograd_.kernel) * winograd_.kernel;
  const std::ptrdiff_t row = forward_.in_channels * taps;
  prepare_direction(forward_, {weights, row, taps}, prepared, part, parts);
  if (input_gradient_) {
    prepare_direction(*input_gradient_, {weights, taps, row}, prepared + offset(Direction::input_gradient),
                      part, parts);
  }
}

void WinogradWeights::prepare_direction(const ProductLayout& layout, const Canonical& weights,
                                        float* prepared, int part, int parts) const {
  const int kernel = winograd_.kernel, taps = kernel * kernel;
  Lanes<kMostTaps> from;
  Lanes<kMostFrequencies> apart;  // of channels that stand in several rows
  IntoFrequenciesJob job{};
  job.image = from.values.data();
  job.window = {.row = static_cast<std::ptrdiff_t>(kernel) * kPack, .column = kPack};
  job.count = 1;
  const int first = layout.in_channels * part / parts, last = layout.in_channels * (part + 1) / parts;
  for (int o = 0; o < layout.out_channels; o += kPack) {
    job.lanes = std::min(kPack, layout.out_channels - o);
    const bool in_one_row = o / layout.row() == (o + job.lanes - 1) / layout.row();
    job.frequency = in_one_row ? layout.weight_step : kPack;
    for (int c = first; c < last; ++c) {
      turn(weights.first + o * weights.out_channel + c * weights.in_channel, weights.out_channel, taps,
           job.lanes, from.values.data());
      job.frequencies = in_one_row ? prepared + layout.weight(o, c) : apart.values.data();
      winograd_.weights(job);
      for (int lane = 0; lane < job.lanes && !in_one_row; ++lane) {
        float* const to = prepared + layout.weight(o + lane, c);
        for (int f = 0; f < frequencies_; ++f) {
          to[f * layout.weight_step] =
              apart.values[static_cast<std::size_t>(f) * kPack + static_cast<std::size_t>(lane)];
        }
      }
    }
  }
}

// [channel][tap] to [tap][lane]. Whole packs of taps; the last pack may take some of the one before again.
void WinogradWeights::turn(const float* weights, std::ptrdiff_t channel, int taps, int lanes,
                           float* to) const {
  constexpr int kBlock = 4;
  const int blocked = taps < kPack ? 0 : lanes / kBlock * kBlock;
  for (int tap = 0; tap < taps && blocked > 0; tap += kPack) {
    const std::ptrdiff_t at = std::min(tap, taps - kPack);
    kernels_.transpose_pack(weights + at, channel, to + at * kPack, kPack, blocked);
  }
  for (int lane = blocked; lane < lanes; ++lane) {
    for (int tap = 0; tap < taps; ++tap) to[tap * kPack + lane] = weights[lane * channel + tap];
  }
}

}  // namespace lockstep::cpu
