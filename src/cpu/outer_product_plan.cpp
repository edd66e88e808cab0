#include "cpu/outer_product_plan.h"

#include <algorithm>
#include <vector>

#include "base/divide.h"
#include "base/error.h"
#include "cpu/bias_gradient.h"
#include "cpu/size.h"

namespace lockstep::cpu {
namespace {

constexpr std::size_t kBlockBytes = 16 << 10;  // half of a small L1
constexpr int kFewestRows = 12;                // of a register tile
constexpr int kStripRows = 48;                 // their dy of four packs stays in L1 beside a tile's x

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

// A sum that a later pack of the call joins is not stored: it waits in the stage. A pack always joins the
// latest sums, so waiting sums lie above all others.
void stage_joins(std::vector<OuterProductJob>& jobs, std::vector<JoinTarget>& targets) {
  std::vector<const float*> waiting;
  for (std::size_t p = 0; p < jobs.size(); ++p) {
    JoinTarget& target = targets[p];
    int& staged = jobs[p].staged_joins;
    while (staged < target.joins && !waiting.empty() && target.sums[size(staged)] == waiting.back()) {
      waiting.pop_back();
      ++staged;
    }
    std::shift_left(target.sums.begin(), target.sums.end(), staged);
    target.joins -= staged;
    const auto joins_it = [&](const JoinTarget& later) {
      return std::find(later.sums.begin(), later.sums.begin() + later.joins, target.destination) !=
             later.sums.begin() + later.joins;
    };
    jobs[p].stages =
        std::any_of(targets.begin() + static_cast<std::ptrdiff_t>(p) + 1, targets.end(), joins_it);
    if (jobs[p].stages) waiting.push_back(target.destination);
    check(waiting.size() <= kMostStaged, "{} packs at once need a deeper stage", jobs.size());
  }
}

}  // namespace

OuterProductPlan::OuterProductPlan(const program::Convolution& c, const Kernels& kernels)
    : kernels_(kernels),
      c_(c),
      width_(round_up(c.input.channels, kPack)),
      straight_(c.taps() == 1 && width_ == c.input.channels) {
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

// All of a tap's product but where it goes.
OuterProductJob OuterProductPlan::tap_product(int tap, const float* x, const float* dy) const {
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
  job.vectors = width_ / kernels_.lanes;
  if (job.rows > 0 && job.columns > 0) {
    job.x = x + (y0 * c_.input.width + x0) * x_position;
    job.dy = dy + rows.first * job.dy_row + columns.first * job.dy_column;
  }
  return job;
}

// A strip of the gradient meets all packs while it is in cache.
void OuterProductPlan::run_straight(std::span<const PackOperands> packs, const float* transposed) const {
  std::vector<JoinTarget> targets;
  std::vector<OuterProductJob> jobs;
  targets.reserve(packs.size());
  jobs.reserve(packs.size());
  for (std::size_t p = 0; p < packs.size(); ++p) {
    OuterProductJob& job = jobs.emplace_back(
        tap_product(0, transposed + static_cast<std::ptrdiff_t>(p) * pack_floats(), packs[p].dy));
    job.target = &targets.emplace_back(packs[p].weights);
    job.target_channel = c_.input.channels;
  }
  stage_joins(jobs, targets);
  for (int first = 0; first < c_.output.channels; first += kStripRows) {
    for (OuterProductJob& job : jobs) {
      job.channels = std::min(kStripRows, c_.output.channels - first);
      job.offset = static_cast<std::ptrdiff_t>(first) * c_.input.channels;
    }
    kernels_.outer_products(jobs.data(), static_cast<int>(jobs.size()));
    for (OuterProductJob& job : jobs) job.dy += job.channels * job.dy_channel;
  }
}

void OuterProductPlan::run_convolution(const PackOperands& pack, const float* transposed,
                                       float* scratch) const {
  const int taps = c_.taps(), channels = c_.input.channels;
  float* const sums = scratch;
  float* const canonical = sums + static_cast<std::ptrdiff_t>(rows_) * width_ * taps;
  JoinTarget stage;
  for (int first = 0; first < c_.output.channels; first += rows_) {
    const int count = std::min(rows_, c_.output.channels - first);
    for (int tap = 0; tap < taps; ++tap) {
      OuterProductJob job = tap_product(tap, transposed, pack.dy);
      if (job.dy != nullptr) job.dy += first * job.dy_channel;
      stage.destination = sums + static_cast<std::ptrdiff_t>(tap) * rows_ * width_;
      job.target = &stage;
      job.target_channel = width_;
      job.channels = count;
      kernels_.outer_product(job);
    }
    // [tap][output channel][width] to [output channel][input channel][tap]
    for (int o = 0; o < count; ++o) {
      for (int tap = 0; tap < taps; ++tap) {
        const float* const from = sums + (static_cast<std::ptrdiff_t>(tap) * rows_ + o) * width_;
        float* const to = canonical + static_cast<std::ptrdiff_t>(o) * channels * taps + tap;
        for (int c = 0; c < channels; ++c) to[static_cast<std::ptrdiff_t>(c) * taps] = from[c];
      }
    }
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(channels) * taps;
    kernels_.join_row(canonical, first * row, size(count * row), pack.weights);
  }
}

void OuterProductPlan::run(std::span<const PackOperands> packs, float* scratch) const {
  float* const rest = scratch + static_cast<std::ptrdiff_t>(packs.size()) * pack_floats();
  for (std::size_t p = 0; p < packs.size(); ++p) {
    transpose(packs[p].x, scratch + static_cast<std::ptrdiff_t>(p) * pack_floats());
  }
  if (straight_) run_straight(packs, scratch);
  for (std::size_t p = 0; p < packs.size(); ++p) {
    if (!straight_) run_convolution(packs[p], scratch + static_cast<std::ptrdiff_t>(p) * pack_floats(), rest);
    if (!packs[p].bias.wanted()) continue;
    kernels_.bias_sums(packs[p].dy, c_.output.channels, c_.output.height * c_.output.width, rest);
    join_bias(kernels_, rest, c_.output.channels, packs[p].bias);
  }
}

}  // namespace lockstep::cpu
