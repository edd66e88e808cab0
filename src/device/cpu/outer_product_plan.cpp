#include "device/cpu/outer_product_plan.h"

#include <algorithm>

#include "device/cpu/bias_gradient.h"

namespace lockstep::device::cpu {
namespace {

constexpr std::size_t kBlockBytes = 16 << 10;  // half of a small L1
constexpr int kFewestRows = 12;                // of a register tile

std::size_t size(std::ptrdiff_t n) { return static_cast<std::size_t>(n); }

// Outputs [first, last) whose tap lies inside the image.
struct Inside {
  int first, last;
};
Inside outputs_inside(int outputs, int inputs, int tap, int stride, int padding) {
  Inside range{0, outputs};
  while (range.first < outputs && range.first * stride + tap - padding < 0) ++range.first;
  while (range.last > range.first && (range.last - 1) * stride + tap - padding >= inputs) --range.last;
  return range;
}

}  // namespace

OuterProductPlan::OuterProductPlan(const program::Convolution& c, const Kernels& kernels)
    : kernels_(kernels), c_(c), width_((c.input.channels + kPack - 1) / kPack * kPack) {
  const std::size_t row_bytes = size(width_) * size(c.taps()) * sizeof(float);
  rows_ = std::clamp(static_cast<int>(kBlockBytes / row_bytes), std::min(kFewestRows, c.output.channels),
                     c.output.channels);
}

std::ptrdiff_t OuterProductPlan::pack_floats() const {
  return static_cast<std::ptrdiff_t>(c_.input.height) * c_.input.width * kPack * width_;
}

std::size_t OuterProductPlan::scratch_floats(int packs) const {
  return size(packs * pack_floats()) + 2 * size(rows_) * size(width_) * size(c_.taps()) + 2 * kPack +
         size(c_.output.channels) * kPack;
}

// [channel][position][lane] to [position][lane][channel]; lanes of channels that do not exist stay zero.
void OuterProductPlan::transpose(const float* x, float* to) const {
  constexpr int kBlock = 4;
  const std::ptrdiff_t positions = static_cast<std::ptrdiff_t>(c_.input.height) * c_.input.width;
  const int blocked = c_.input.channels / kBlock * kBlock;
  for (std::ptrdiff_t p = 0; p < positions; ++p) {
    float* const at = to + p * kPack * width_;
    kernels_.transpose_pack(x + p * kPack, positions * kPack, at, width_, blocked);
    for (int lane = 0; lane < kPack; ++lane) {
      for (int c = blocked; c < width_; ++c) {
        at[lane * width_ + c] = c < c_.input.channels ? x[(c * positions + p) * kPack + lane] : 0.0f;
      }
    }
  }
}

// sums [output channel of the block][width_]
void OuterProductPlan::tap_product(int tap, int first, int count, const float* x, const float* dy,
                                   float* sums) const {
  const int ky = tap / c_.kernel.width, kx = tap % c_.kernel.width;
  const Inside rows =
      outputs_inside(c_.output.height, c_.input.height, ky, c_.stride.height, c_.padding.height);
  const Inside columns =
      outputs_inside(c_.output.width, c_.input.width, kx, c_.stride.width, c_.padding.width);
  const std::ptrdiff_t x_position = static_cast<std::ptrdiff_t>(kPack) * width_;
  const std::ptrdiff_t y0 = rows.first * c_.stride.height + ky - c_.padding.height,
                       x0 = columns.first * c_.stride.width + kx - c_.padding.width;
  OuterProductJob job{};
  job.rows = std::max(0, rows.last - rows.first);
  job.columns = std::max(0, columns.last - columns.first);
  job.x_row = x_position * c_.input.width * c_.stride.height;
  job.x_column = x_position * c_.stride.width;
  job.x_example = width_;
  job.dy_column = kPack;
  job.dy_row = static_cast<std::ptrdiff_t>(c_.output.width) * kPack;
  job.dy_channel = job.dy_row * c_.output.height;
  if (job.rows > 0 && job.columns > 0) {
    job.x = x + (y0 * c_.input.width + x0) * x_position;
    job.dy = dy + first * job.dy_channel + rows.first * job.dy_row + columns.first * job.dy_column;
  }
  job.channels = count;
  job.vectors = width_ / kernels_.lanes;
  job.sums = sums;
  job.sums_channel = width_;
  kernels_.outer_product(job);
}

void OuterProductPlan::run(std::span<const PackOperands> packs, float* scratch) const {
  const int taps = c_.taps(), channels = c_.input.channels;
  const std::ptrdiff_t block = static_cast<std::ptrdiff_t>(rows_) * width_ * taps;
  float* const transposed = scratch;
  float* const sums = transposed + static_cast<std::ptrdiff_t>(packs.size()) * pack_floats();
  float* const canonical = sums + block;
  float* const lane_sums = canonical + (block + kPack - 1) / kPack * kPack;
  for (std::size_t p = 0; p < packs.size(); ++p) {
    transpose(packs[p].x, transposed + static_cast<std::ptrdiff_t>(p) * pack_floats());
  }
  for (int first = 0; first < c_.output.channels; first += rows_) {
    const int count = std::min(rows_, c_.output.channels - first);
    for (std::size_t p = 0; p < packs.size(); ++p) {
      const float* const x = transposed + static_cast<std::ptrdiff_t>(p) * pack_floats();
      const float* values = sums;
      for (int tap = 0; tap < taps; ++tap) {
        tap_product(tap, first, count, x, packs[p].dy,
                    sums + static_cast<std::ptrdiff_t>(tap) * rows_ * width_);
      }
      if (taps > 1 || width_ != channels) {
        // [tap][output channel][width] to [output channel][input channel][tap]
        for (int o = 0; o < count; ++o) {
          for (int tap = 0; tap < taps; ++tap) {
            const float* const from = sums + (static_cast<std::ptrdiff_t>(tap) * rows_ + o) * width_;
            float* const to = canonical + static_cast<std::ptrdiff_t>(o) * channels * taps + tap;
            for (int c = 0; c < channels; ++c) to[static_cast<std::ptrdiff_t>(c) * taps] = from[c];
          }
        }
        values = canonical;
      }
      const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(channels) * taps;
      kernels_.join_row(values, first * row, size(count * row), packs[p].weights);
    }
  }
  for (const PackOperands& pack : packs) {
    kernels_.bias_sums(pack.dy, c_.output.channels, c_.output.height * c_.output.width, lane_sums);
    join_bias(kernels_, lane_sums, c_.output.channels, pack.bias);
  }
}

}  // namespace lockstep::device::cpu
