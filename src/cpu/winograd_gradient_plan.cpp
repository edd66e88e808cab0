#include "cpu/winograd_gradient_plan.h"

#include <algorithm>

#include "base/divide.h"
#include "cpu/bias_gradient.h"
#include "cpu/size.h"

namespace lockstep::cpu {

WinogradGradientPlan::WinogradGradientPlan(const program::Convolution& c, const Kernels& kernels,
                                           const CacheSizes& caches)
    : kernels_(kernels),
      winograd_(winograd_of(kernels, c)),
      c_(c),
      grid_(c),
      width_(divide_up(c.output.channels, kernels.lanes) * kernels.lanes) {
  const std::size_t frequencies = size(grid_.frequencies()) * sizeof(float);
  const std::size_t all_products = frequencies * size(c.input.channels) * size(width_);
  const std::size_t tile = frequencies * kPack * size(c.input.channels + width_);
  // Each visit of the sums reads and writes them all; the transformed operands between two visits should be
  // several times as much, or fit into L2.
  const std::size_t room = std::max(caches.l2, 4 * all_products);
  const int rounds = static_cast<int>((size(grid_.count()) * tile + room - 1) / room);
  round_tiles_ = divide_up(grid_.count(), rounds);
  // A block of sums is transformed back while it is in L2, beside the operands that it came from.
  constexpr int kMostOut = 2 * kPack;
  block_out_ = std::min(width_, kMostOut);
  const std::size_t row = frequencies * size(block_out_);
  block_in_ = std::clamp(static_cast<int>(caches.l2 / 4 * 3 / row), 1, c.input.channels);
  block_in_ = divide_up(c.input.channels, divide_up(c.input.channels, block_in_));
  x_step_ = odd_lines(static_cast<std::ptrdiff_t>(round_tiles_) * c.input.channels * kPack);
  dy_step_ = odd_lines(static_cast<std::ptrdiff_t>(round_tiles_) * kPack * block_out_);
  products_step_ = odd_lines(static_cast<std::ptrdiff_t>(block_in_) * block_out_);
  turned_step_ = odd_lines(static_cast<std::ptrdiff_t>(winograd_.tile) * c.output.width * kPack);
}

// Sums that are taken up again need a place each; else one is enough.
int WinogradGradientPlan::blocks() const {
  if (round_tiles_ == grid_.count()) return 1;
  return divide_up(c_.input.channels, block_in_) * divide_up(width_, block_out_);
}

WinogradGradientPlan::Scratch WinogradGradientPlan::divide(float* scratch, std::size_t* floats) const {
  const std::ptrdiff_t row = divide_up(block_in_ * c_.taps(), kPack) * kPack;
  std::ptrdiff_t used = 0;
  const auto take = [&](std::ptrdiff_t count) {
    float* const part = scratch == nullptr ? nullptr : scratch + used;
    used += count;
    return part;
  };
  Scratch parts{};
  parts.x = take(grid_.frequencies() * x_step_);
  parts.dy = take(grid_.frequencies() * dy_step_);
  parts.turned = take(turned_step_ * kPack);
  parts.products = take(blocks() * block_floats());
  parts.stage = take(row * kPack);
  parts.rows = take(row * kPack);
  parts.bias = take(static_cast<std::ptrdiff_t>(c_.output.channels) * kPack);
  if (floats != nullptr) *floats = size(used);
  return parts;
}

std::size_t WinogradGradientPlan::scratch_floats() const {
  std::size_t floats = 0;
  divide(nullptr, &floats);
  return floats;
}

void WinogradGradientPlan::transform_x(const float* x, Range tiles, float* to) const {
  IntoFrequenciesJob job{};
  job.image_next = c_.input.area() * kPack;
  job.frequency = x_step_;
  job.frequencies_next = kPack;
  job.count = c_.input.channels;
  for (int i = 0; i < tiles.count; ++i) {
    const TileGrid::Square square = grid_.input(tiles.first + i, kPack);
    job.image = x + square.offset;
    job.window = square.window;
    job.frequencies = to + static_cast<std::ptrdiff_t>(i) * c_.input.channels * kPack;
    winograd_.input(job);
  }
}

// Brings output channels into the lanes, for some rows of the image; channels that do not exist are zero.
void WinogradGradientPlan::turn(const float* dy, Range channels, Range rows, float* to) const {
  constexpr int kBlock = 4;
  const std::ptrdiff_t positions = c_.output.area(), width = c_.output.width;
  const int blocked = channels.count / kBlock * kBlock;
  for (std::ptrdiff_t p = rows.first * width; p < (rows.first + rows.count) * width; ++p) {
    const float* const from = dy + (channels.first * positions + p) * kPack;
    float* const at = to + (p - rows.first * width) * kPack;
    kernels_.transpose_pack(from, positions * kPack, at, turned_step_, blocked);
    for (int lane = 0; lane < kPack && blocked < kPack; ++lane) {
      for (int c = blocked; c < kPack; ++c) {
        at[lane * turned_step_ + c] = c < channels.count ? from[c * positions * kPack + lane] : 0.0f;
      }
    }
  }
}

void WinogradGradientPlan::transform_dy(const float* dy, Range tiles, Range out,
                                        const Scratch& scratch) const {
  IntoFrequenciesJob job{};
  job.image_next = turned_step_;
  job.frequency = dy_step_;
  job.frequencies_next = block_out_;
  job.count = kPack;
  const std::ptrdiff_t width = c_.output.width;
  for (int o = 0; o < out.count; o += kPack) {
    const Range channels{out.first + o, std::min(kPack, c_.output.channels - out.first - o)};
    job.lanes = std::min(kPack, out.count - o);
    int row = -1;
    for (int i = 0; i < tiles.count; ++i) {
      const TileGrid::Square square = grid_.output(tiles.first + i, kPack);
      if (const int first = grid_.first_row(tiles.first + i); first != row) {
        row = first;
        turn(dy, channels, {row, std::min(winograd_.tile, c_.output.height - row)}, scratch.turned);
      }
      job.image = scratch.turned + square.offset - row * width * kPack;
      job.window = square.window;
      job.frequencies = scratch.dy + static_cast<std::ptrdiff_t>(i) * kPack * block_out_ + o;
      winograd_.output_gradient(job);
    }
  }
}

void WinogradGradientPlan::multiply(Range tiles, Range in, Range out, const Scratch& scratch,
                                    float* products) const {
  JoinTarget target;
  OuterProductJob job{};
  job.x_column = static_cast<std::ptrdiff_t>(kPack) * block_out_;
  job.x_example = block_out_;
  job.dy_channel = kPack;
  job.dy_column = static_cast<std::ptrdiff_t>(c_.input.channels) * kPack;
  job.rows = 1;
  job.columns = tiles.count;
  job.resume = tiles.first > 0;
  job.channels = in.count;
  job.vectors = out.count / kernels_.lanes;
  job.target = &target;
  job.target_channel = block_out_;
  for (int f = 0; f < grid_.frequencies(); ++f) {
    job.x = scratch.dy + f * dy_step_;
    job.dy = scratch.x + f * x_step_ + static_cast<std::ptrdiff_t>(in.first) * kPack;
    target.destination = products + f * products_step_;
    kernels_.outer_product(job);
  }
}

void WinogradGradientPlan::transform_back(Range in, Range out, const float* products, const Scratch& scratch,
                                          const JoinTarget& weights) const {
  constexpr int kBlock = 4;
  const int taps = c_.taps(), row = in.count * taps, padded = divide_up(row, kBlock) * kBlock;
  FromFrequenciesJob job{};
  job.frequency = products_step_;
  job.frequencies_next = block_out_;
  job.image = scratch.stage;
  job.window = {.row = static_cast<std::ptrdiff_t>(winograd_.kernel) * kPack, .column = kPack};
  job.image_next = static_cast<std::ptrdiff_t>(taps) * kPack;
  job.count = in.count;
  for (int o = 0; o < out.count; o += kPack) {
    job.frequencies = products + o;
    job.lanes = std::min(kPack, out.count - o);
    winograd_.weight_gradient(job);
    kernels_.transpose_pack(scratch.stage, kPack, scratch.rows, padded, padded);
    const int channels = std::min(kPack, c_.output.channels - out.first - o);
    for (int lane = 0; lane < channels; ++lane) {
      const std::ptrdiff_t channel = out.first + o + lane;
      kernels_.join_row(scratch.rows + static_cast<std::ptrdiff_t>(lane) * padded,
                        (channel * c_.input.channels + in.first) * taps, size(row), weights);
    }
  }
}

void WinogradGradientPlan::run(const float* x, const float* dy, const JoinTarget& weights,
                               const JoinTarget& bias, float* scratch, Laps* laps) const {
  const Scratch parts = divide(scratch, nullptr);
  LapClock clock(laps);
  for (int t = 0; t < grid_.count(); t += round_tiles_) {
    const Range tiles{t, std::min(round_tiles_, grid_.count() - t)};
    const bool last = t + tiles.count == grid_.count();
    transform_x(x, tiles, parts.x);
    float* products = parts.products;
    for (int o = 0; o < width_; o += block_out_) {
      const Range out{o, std::min(block_out_, width_ - o)};
      transform_dy(dy, tiles, out, parts);
      clock.lap(&Laps::into);
      for (int i = 0; i < c_.input.channels; i += block_in_) {
        const Range in{i, std::min(block_in_, c_.input.channels - i)};
        multiply(tiles, in, out, parts, products);
        clock.lap(&Laps::products);
        if (last) transform_back(in, out, products, parts, weights);
        clock.lap(&Laps::back);
        if (blocks() > 1) products += block_floats();
      }
    }
  }
  if (!bias.wanted()) return;
  kernels_.bias_sums(dy, c_.output.channels, static_cast<int>(c_.output.area()), parts.bias);
  join_bias(kernels_, parts.bias, c_.output.channels, bias);
  clock.lap(&Laps::back);
}

}  // namespace lockstep::cpu
