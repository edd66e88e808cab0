#include "cpu/lane_chain_plan.h"

#include <algorithm>

#include "base/divide.h"
#include "cpu/bias_gradient.h"
#include "cpu/size.h"
#include "cpu/tiling.h"

namespace lockstep::cpu {
namespace {

constexpr int kPackBytes = kPack * static_cast<int>(sizeof(float));
constexpr int kChunkElements = 32;  // of an output channel: its tile's sums stay in L1 beside their operands
static_assert(kChunkElements * kMaxChainChannels <= kStageElements);

}  // namespace

LaneChainPlan::LaneChainPlan(const program::Convolution& c, const Kernels& kernels)
    : kernels_(kernels),
      c_(c),
      padded_{c.input.height + 2 * c.padding.height, c.input.width + 2 * c.padding.width} {
  // A row of the kernel is cut into runs; the longest decides how many channels fit into registers with it.
  const std::vector<int> cuts = balanced(c.kernel.width, kMaxRun);
  int longest = 1;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) longest = std::max(longest, cuts[i + 1] - cuts[i]);
  int most = 1;
  for (int o = 1; o <= kMaxChainChannels; ++o) {
    if (kernels.lane_chain[size(o)][size(longest)] != nullptr) most = o;
  }
  first_ = balanced(c.output.channels, most);
  for (std::size_t t = 0; t + 1 < first_.size(); ++t) tile_ = std::max(tile_, first_[t + 1] - first_[t]);
  for (int channel = 0; channel < c.input.channels; ++channel) {
    for (int ky = 0; ky < c.kernel.height; ++ky) {
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) add_run(channel, ky, cuts[i], cuts[i + 1] - cuts[i]);
    }
  }
}

void LaneChainPlan::add_run(int channel, int ky, int kx, int length) {
  const int element = (channel * c_.kernel.height + ky) * c_.kernel.width + kx;
  if (chunks_.empty() || chunks_.back().elements + length > kChunkElements)
    chunks_.push_back({element, 0, {}});
  Chunk& chunk = chunks_.back();
  const int input = channel * static_cast<int>(padded_.area()) + ky * padded_.width + kx;
  chunk.runs[size(length)].push_back({input * kPackBytes, element - chunk.first});
  chunk.elements += length;
}

LaneChainPlan::Layout LaneChainPlan::layout() const {
  const bool pads = c_.padding != program::Extent{0, 0};
  Layout l{};
  l.stage = pads ? c_.input.channels * padded_.area() * kPack : 0;
  l.values = l.stage + kStageElements * kPack;
  l.rows = l.values + kStageElements;
  l.dy = l.rows + round_up<std::ptrdiff_t>(tile_ * row_elements(), kPack);
  l.bias = l.dy + static_cast<std::ptrdiff_t>(tile_) * 2 * c_.output.width * kPack;
  l.end = l.bias + static_cast<std::ptrdiff_t>(c_.output.channels) * kPack;
  return l;
}

std::size_t LaneChainPlan::scratch_floats() const { return size(layout().end); }

LaneChainPlan::Scratch LaneChainPlan::divide(float* scratch) const {
  const Layout l = layout();
  return {scratch, scratch + l.stage, scratch + l.values, scratch + l.rows, scratch + l.dy, scratch + l.bias};
}

// Zeros around the image may be multiplied: they change no bit of a finished sum.
const float* LaneChainPlan::padded_input(const float* x, float* padded) const {
  if (c_.padding == program::Extent{0, 0}) return x;
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(c_.input.width) * kPack;
  std::fill_n(padded, c_.input.channels * padded_.area() * kPack, 0.0f);
  for (int c = 0; c < c_.input.channels; ++c) {
    for (int y = 0; y < c_.input.height; ++y) {
      const std::ptrdiff_t to = c * padded_.area() +
                                static_cast<std::ptrdiff_t>(y + c_.padding.height) * padded_.width +
                                c_.padding.width;
      std::copy_n(x + (static_cast<std::ptrdiff_t>(c) * c_.input.height + y) * row, row, padded + to * kPack);
    }
  }
  return padded;
}

void LaneChainPlan::chains(const Chunk& chunk, int channels, LaneChainJob job) const {
  job.x_row = static_cast<std::ptrdiff_t>(c_.stride.height) * padded_.width * kPack;
  job.x_column = static_cast<std::ptrdiff_t>(c_.stride.width) * kPack;
  job.dy_row = static_cast<std::ptrdiff_t>(c_.output.width) * kPack;
  job.columns = c_.output.width;
  job.stage_row = chunk.elements;
  for (std::size_t length = 1; length < chunk.runs.size(); ++length) {
    if (chunk.runs[length].empty()) continue;
    job.runs = chunk.runs[length].data();
    job.run_count = static_cast<int>(chunk.runs[length].size());
    kernels_.lane_chain[size(channels)][length](job);
  }
}

// Staged sums to their places in the rows of the tile.
void LaneChainPlan::tree(const Chunk& chunk, int channels, const Scratch& scratch) const {
  kernels_.lane_tree(
      {scratch.stage, channels, chunk.elements, scratch.values, scratch.rows + chunk.first, row_elements()});
}

void LaneChainPlan::run(const float* x, const float* dy, const JoinTarget& weights, const JoinTarget& bias,
                        float* scratch) const {
  const Scratch parts = divide(scratch);
  LaneChainJob job{};
  job.x = padded_input(x, parts.padded);
  job.dy_channel = c_.output.area() * kPack;
  job.rows = c_.output.height;
  job.stage = parts.stage;
  for (std::size_t t = 0; t + 1 < first_.size(); ++t) {
    const int first = first_[t], count = first_[t + 1] - first;
    job.dy = dy + first * job.dy_channel;
    for (const Chunk& chunk : chunks_) {
      chains(chunk, count, job);
      tree(chunk, count, parts);
    }
    kernels_.join_row(parts.rows, first * row_elements(), size(count * row_elements()), weights);
  }
  if (!bias.wanted()) return;
  kernels_.bias_sums(dy, c_.output.channels, static_cast<int>(c_.output.area()), parts.bias);
  join_bias(kernels_, parts.bias, c_.output.channels, bias);
}

void LaneChainPlan::run_unpooled(const float* x, const float* pooled, const std::uint8_t* mask,
                                 const JoinTarget& weights, const JoinTarget& bias, float* scratch) const {
  const Scratch parts = divide(scratch);
  const float* const input = padded_input(x, parts.padded);
  const int width = c_.output.width, pooled_width = width / 2, pooled_height = c_.output.height / 2;
  UnpoolJob unpool{};
  unpool.dy_channel = static_cast<std::ptrdiff_t>(pooled_height) * pooled_width * kPack;
  unpool.mask_channel = c_.output.area() * 2;
  unpool.dx = parts.dy;
  unpool.dx_channel = 2 * static_cast<std::ptrdiff_t>(width) * kPack;
  unpool.rows = 2;
  unpool.columns = unpool.mask_columns = width;
  unpool.dy_columns = pooled_width;
  LaneChainJob job{};
  job.dy = parts.dy;
  job.dy_channel = unpool.dx_channel;
  job.rows = 2;
  job.stage = parts.stage;
  std::fill_n(parts.bias, size(c_.output.channels) * kPack, 0.0f);
  for (std::size_t t = 0; t + 1 < first_.size(); ++t) {
    const int first = first_[t], count = first_[t + 1] - first;
    unpool.channels = count;
    for (const Chunk& chunk : chunks_) {
      const bool first_chunk = &chunk == chunks_.data();
      for (int y = 0; y < pooled_height; ++y) {
        unpool.dy =
            pooled + first * unpool.dy_channel + static_cast<std::ptrdiff_t>(y) * pooled_width * kPack;
        unpool.mask = mask + first * unpool.mask_channel + static_cast<std::ptrdiff_t>(y) * 2 * width * 2;
        unpool.bias = first_chunk && bias.wanted() ? parts.bias + first * kPack : nullptr;
        kernels_.unpool(unpool);
        job.x = input + static_cast<std::ptrdiff_t>(2 * y) * c_.stride.height * padded_.width * kPack;
        job.resume = y > 0;
        chains(chunk, count, job);
      }
      tree(chunk, count, parts);
    }
    kernels_.join_row(parts.rows, first * row_elements(), size(count * row_elements()), weights);
  }
  if (bias.wanted()) join_bias(kernels_, parts.bias, c_.output.channels, bias);
}

}  // namespace lockstep::cpu
