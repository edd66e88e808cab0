#include "cpu/window_plan.h"

#include <algorithm>

#include "cpu/size.h"

namespace lockstep::cpu {
namespace {

// The longest chain that gains, in the quietest tenth of windows: LeNet's first convolution (25 taps) goes
// from 71 to 87 % of peak on AVX-512 and from 85 to 88 % on AVX2, 108 taps from 89 to 97 and from 93 to 96 %;
// 135 taps lose 2 points on AVX-512 (Sapphire Rapids).
constexpr int kLongestChain = 120;
constexpr int kShortestStream = 4;  // windows, even where these leave the cache

int chain_of(const program::Convolution& c) { return c.input.channels * c.taps(); }

int most_window_channels(const Kernels& kernels) {
  int most = 0;
  for (int c = 1; c <= kMaxWindowChannels; ++c) {
    if (kernels.window_row[size(c)] != nullptr) most = c;
  }
  return most;
}

// Windows in a row whose input stays in cache while all channels pass over it.
int most_windows(const program::Convolution& c, std::size_t room) {
  const int rows = c.kernel.height + 1;
  const std::size_t column = size(c.input.channels) * size(rows) * kPack * sizeof(float);
  return std::max(kShortestStream, (static_cast<int>(room / column) - c.kernel.width + 1) / 2);
}

}  // namespace

bool WindowPlan::suits(const program::Convolution& c, program::Epilogue epilogue) {
  return epilogue == program::Epilogue::relu_average_pool && c.stride == program::Extent{1, 1} &&
         c.padding == program::Extent{0, 0} && chain_of(c) >= 2 && chain_of(c) <= kLongestChain;
}

WindowPlan::WindowPlan(const program::Convolution& c, const Kernels& kernels, const CacheSizes& caches)
    : kernels_(kernels),
      in_(c.input),
      out_(c.output),
      channels_(balanced(c.output.channels, most_window_channels(kernels))),
      columns_(balanced(c.output.width / 2, most_windows(c, input_room(kernels, caches)))),
      no_bias_(size(c.output.channels), 0.0f) {
  taps_.reserve(size(chain_of(c)));
  for (int channel = 0; channel < c.input.channels; ++channel) {
    for (int ky = 0; ky < c.kernel.height; ++ky) {
      for (int kx = 0; kx < c.kernel.width; ++kx) {
        taps_.push_back(((channel * in_.height + ky) * in_.width + kx) * kPack);
      }
    }
  }
}

std::size_t WindowPlan::prepared_floats() const { return size(out_.channels) * taps_.size(); }

void WindowPlan::prepare(const float* weights, float* prepared, int part, int parts) const {
  const int tiles = static_cast<int>(channels_.size()) - 1, chain = static_cast<int>(taps_.size());
  for (int t = tiles * part / parts; t < tiles * (part + 1) / parts; ++t) {
    float* to = prepared + static_cast<std::ptrdiff_t>(channels_[size(t)]) * chain;
    for (int tap = 0; tap < chain; ++tap) {
      for (int o = channels_[size(t)]; o < channels_[size(t) + 1]; ++o) {
        *to++ = weights[static_cast<std::ptrdiff_t>(o) * chain + tap];
      }
    }
  }
}

void WindowPlan::run(const Operands& operands, float* /*scratch*/) const {
  const float* const bias = operands.bias == nullptr ? no_bias_.data() : operands.bias;
  const int rows = out_.height / 2, columns = out_.width / 2;
  WindowJob job{};
  job.input_row = static_cast<std::ptrdiff_t>(in_.width) * kPack;
  job.taps = taps_.data();
  job.tap_count = static_cast<int>(taps_.size());
  job.y_channel = static_cast<std::ptrdiff_t>(rows) * columns * kPack;
  job.mask_row = static_cast<std::ptrdiff_t>(out_.width) * 2;
  job.mask_channel = out_.height * job.mask_row;
  for (int row = 0; row < rows; ++row) {
    for (std::size_t s = 0; s + 1 < columns_.size(); ++s) {
      const int column = columns_[s];
      job.input = operands.input + 2 * row * job.input_row + 2 * column * kPack;
      job.windows = columns_[s + 1] - column;
      for (std::size_t t = 0; t + 1 < channels_.size(); ++t) {
        const int channel = channels_[t];
        job.bias = bias + channel;
        job.weights = operands.weights + channel * job.tap_count;
        job.y = operands.output + channel * job.y_channel + (row * columns + column) * kPack;
        job.mask = operands.mask + channel * job.mask_channel + 2 * row * job.mask_row + 4 * column;
        kernels_.window_row[size(channels_[t + 1] - channel)](job);
      }
    }
  }
}

}  // namespace lockstep::cpu
