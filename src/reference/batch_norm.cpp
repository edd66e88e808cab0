#include "reference/batch_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "arithmetic/pack.h"
#include "reference/image_shape.h"
#include "reference/lane_tree.h"
#include "reference/minibatch_sum.h"

namespace lockstep::reference {
namespace {

// Examples [first, end): of a pack or of a group.
struct ExampleRange {
  int first = 0, end = 0;
  int examples() const { return end - first; }
};

ImageShape image_of(const BatchNormShape& shape) { return {shape.channels, shape.height, shape.width}; }

std::vector<ExampleRange> parts_of(const ExampleRange& whole, int examples) {
  std::vector<ExampleRange> parts;
  for (int first = whole.first; first < whole.end; first += examples)
    parts.push_back({first, std::min(first + examples, whole.end)});
  return parts;
}

std::vector<ExampleRange> groups_of(const BatchNormShape& shape, int examples) {
  return parts_of({0, examples}, shape.ghost == 0 ? examples : shape.ghost);
}

// A chain for each lane over (y, x) from +0, then the lane tree. next(sum so far, index of the element)
template <class Next>
float chains_and_lane_tree(const BatchNormShape& shape, const ExampleRange& pack, int channel, Next next) {
  std::array<float, arithmetic::kPack> lanes{};  // absent ones stay +0
  for (int e = pack.first; e < pack.end; ++e) {
    float& lane = lanes[static_cast<std::size_t>(e - pack.first)];
    for (int y = 0; y < shape.height; ++y)
      for (int x = 0; x < shape.width; ++x) lane = next(lane, image_of(shape).index(e, channel, y, x));
  }
  return lane_tree(lanes);
}

NormStatistics statistics_of_pack(const BatchNormShape& shape, const ExampleRange& pack, int channel,
                                  std::span<const float> x) {
  NormStatistics statistics;
  statistics.n = static_cast<float>(pack.examples() * shape.height * shape.width);
  const float sum =
      chains_and_lane_tree(shape, pack, channel, [&](float s, std::size_t i) { return s + x[i]; });
  statistics.mean = sum / statistics.n;
  statistics.deviations = chains_and_lane_tree(shape, pack, channel, [&](float s, std::size_t i) {
    const float d = x[i] - statistics.mean;
    return std::fma(d, d, s);
  });
  return statistics;
}

// The rule of the pack tree.
NormStatistics joined(std::span<const NormStatistics> packs) {
  if (packs.size() == 1) return packs[0];
  std::size_t left = 1;
  while (2 * left < packs.size()) left *= 2;
  return join(joined(packs.first(left)), joined(packs.subspan(left)));
}

NormStatistics statistics_of_group(const BatchNormShape& shape, const ExampleRange& group, int channel,
                                   std::span<const float> x) {
  std::vector<NormStatistics> packs;
  for (const ExampleRange& pack : parts_of(group, arithmetic::kPack))
    packs.push_back(statistics_of_pack(shape, pack, channel, x));
  return joined(packs);
}

// What a channel's mean and variance become for the formulas.
struct Normaliser {
  float mean = 0, r = 0;

  Normaliser(float of_mean, float variance, float eps) : mean(of_mean) {
    const float sum = variance + eps;
    const float root = std::sqrt(sum);
    r = 1.0f / root;
  }
  Normaliser(const NormStatistics& group, float eps)
      : Normaliser(group.mean, group.deviations / group.n, eps) {}

  float normalised(float x) const {
    const float d = x - mean;
    return d * r;
  }
};

// Calls visit(index) for every element of these examples in this channel.
template <class Visit>
void for_each_element(const BatchNormShape& shape, const ExampleRange& examples, int channel, Visit visit) {
  for (int e = examples.first; e < examples.end; ++e)
    for (int y = 0; y < shape.height; ++y)
      for (int x = 0; x < shape.width; ++x) visit(image_of(shape).index(e, channel, y, x));
}

// Writes y of these examples in this channel.
void write_outputs(const BatchNormShape& shape, const ExampleRange& examples, int channel,
                   const Normaliser& normaliser, const NormParameters& parameters, std::span<const float> x,
                   std::span<float> y) {
  const auto c = static_cast<std::size_t>(channel);
  const float scale = parameters.scale[c] * normaliser.r;
  const float shift = std::fma(-normaliser.mean, scale, parameters.bias[c]);
  for_each_element(shape, examples, channel, [&](std::size_t i) { y[i] = std::fma(x[i], scale, shift); });
}

float bias_sum_of_pack(const BatchNormShape& shape, const ExampleRange& pack, int channel,
                       std::span<const float> dy) {
  return chains_and_lane_tree(shape, pack, channel, [&](float s, std::size_t i) { return s + dy[i]; });
}

// With the normaliser of the pack's group.
float scale_sum_of_pack(const BatchNormShape& shape, const ExampleRange& pack, int channel,
                        const Normaliser& normaliser, std::span<const float> x, std::span<const float> dy) {
  return chains_and_lane_tree(shape, pack, channel, [&](float s, std::size_t i) {
    return std::fma(dy[i], normaliser.normalised(x[i]), s);
  });
}

// The tree of a group.
template <class SumOfPack>
float sum_over_packs_of(const ExampleRange& group, SumOfPack sum_of_pack) {
  return sum_over_packs(group.examples(), [&](int first, int end) {
    return sum_of_pack(ExampleRange{group.first + first, group.first + end});
  });
}

// Writes dx of a group in this channel.
void write_input_gradients(const BatchNormShape& shape, const ExampleRange& group, int channel,
                           std::span<const float> x, std::span<const float> dy, float scale,
                           std::span<float> dx) {
  const NormStatistics statistics = statistics_of_group(shape, group, channel, x);
  const Normaliser normaliser(statistics, shape.eps);
  const float bias_sum = sum_over_packs_of(
      group, [&](const ExampleRange& pack) { return bias_sum_of_pack(shape, pack, channel, dy); });
  const float scale_sum = sum_over_packs_of(group, [&](const ExampleRange& pack) {
    return scale_sum_of_pack(shape, pack, channel, normaliser, x, dy);
  });
  const float a = scale * normaliser.r;
  const float a_times_r = a * normaliser.r;
  const float scale_mean = scale_sum / statistics.n;
  const float b = -(a_times_r * scale_mean);
  const float bias_mean = bias_sum / statistics.n;
  const float e = -(a * bias_mean);
  for_each_element(shape, group, channel, [&](std::size_t i) {
    const float d = x[i] - normaliser.mean;
    dx[i] = std::fma(a, dy[i], std::fma(b, d, e)) + 0.0f;
  });
}

}  // namespace

NormStatistics join(const NormStatistics& left, const NormStatistics& right) {
  NormStatistics both;
  both.n = left.n + right.n;
  const float delta = right.mean - left.mean;
  const float q = right.n / both.n;
  both.mean = std::fma(delta, q, left.mean);
  const float square = delta * delta;
  const float weight = left.n * q;
  const float sum = left.deviations + right.deviations;
  both.deviations = std::fma(square, weight, sum);
  return both;
}

std::vector<std::vector<NormStatistics>> batch_norm_statistics(const BatchNormShape& shape, int examples,
                                                               std::span<const float> x) {
  std::vector<std::vector<NormStatistics>> by_group;
  for (const ExampleRange& group : groups_of(shape, examples)) {
    std::vector<NormStatistics>& channels = by_group.emplace_back();
    for (int c = 0; c < shape.channels; ++c) channels.push_back(statistics_of_group(shape, group, c, x));
  }
  return by_group;
}

std::vector<float> batch_norm_forward(const BatchNormShape& shape, int examples, std::span<const float> x,
                                      const NormParameters& parameters) {
  std::vector<float> y(x.size());
  for (const ExampleRange& group : groups_of(shape, examples)) {
    for (int c = 0; c < shape.channels; ++c) {
      const Normaliser normaliser(statistics_of_group(shape, group, c, x), shape.eps);
      write_outputs(shape, group, c, normaliser, parameters, x, y);
    }
  }
  return y;
}

std::vector<float> batch_norm_evaluation(const BatchNormShape& shape, int examples, std::span<const float> x,
                                         const NormParameters& parameters, const GivenStatistics& given) {
  std::vector<float> y(x.size());
  for (int c = 0; c < shape.channels; ++c) {
    const auto channel = static_cast<std::size_t>(c);
    const Normaliser normaliser(given.mean[channel], given.variance[channel], shape.eps);
    write_outputs(shape, {0, examples}, c, normaliser, parameters, x, y);
  }
  return y;
}

std::vector<float> batch_norm_input_gradient(const BatchNormShape& shape, int examples,
                                             std::span<const float> x, std::span<const float> dy,
                                             std::span<const float> scale) {
  std::vector<float> dx(x.size());
  for (const ExampleRange& group : groups_of(shape, examples)) {
    for (int c = 0; c < shape.channels; ++c)
      write_input_gradients(shape, group, c, x, dy, scale[static_cast<std::size_t>(c)], dx);
  }
  return dx;
}

std::vector<float> batch_norm_scale_gradient(const BatchNormShape& shape, int examples,
                                             std::span<const float> x, std::span<const float> dy) {
  std::vector<float> gradient;
  for (int c = 0; c < shape.channels; ++c) {
    std::vector<Normaliser> by_group;
    for (const ExampleRange& group : groups_of(shape, examples))
      by_group.emplace_back(statistics_of_group(shape, group, c, x), shape.eps);
    gradient.push_back(sum_over_packs(examples, [&](int first, int end) {
      const int group = shape.ghost == 0 ? 0 : first / shape.ghost;
      return scale_sum_of_pack(shape, {first, end}, c, by_group[static_cast<std::size_t>(group)], x, dy);
    }));
  }
  return gradient;
}

std::vector<float> batch_norm_bias_gradient(const BatchNormShape& shape, int examples,
                                            std::span<const float> dy) {
  std::vector<float> gradient;
  for (int c = 0; c < shape.channels; ++c) {
    gradient.push_back(sum_over_packs(examples, [&](int first, int end) {
      return bias_sum_of_pack(shape, {first, end}, c, dy);
    }));
  }
  return gradient;
}

void update_running_statistics(const BatchNormShape& shape, int examples, std::span<const float> x,
                               float momentum, const RunningStatistics& running) {
  const auto move = [&](float& value, float statistic) {
    const float difference = statistic - value;
    value = std::fma(momentum, difference, value);
  };
  for (const std::vector<NormStatistics>& group : batch_norm_statistics(shape, examples, x)) {
    for (std::size_t c = 0; c < group.size(); ++c) {
      const float freedom = group[c].n - 1.0f;
      move(running.mean[c], group[c].mean);
      move(running.variance[c], group[c].deviations / freedom);
    }
  }
}

}  // namespace lockstep::reference
