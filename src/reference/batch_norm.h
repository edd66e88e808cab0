// Naive twin of batch norm. x, y, dy and dx [example][channel][y][x]; the rest [channel].
#pragma once
#include <span>
#include <vector>

namespace lockstep::reference {

struct BatchNormShape {
  int channels = 0, height = 1, width = 1;
  int ghost = 0;  // examples of a group, a multiple of 16; 0: the whole minibatch
  float eps = 0;
};

// Of one channel, over a pack or over a group.
struct NormStatistics {
  float n = 0;           // values
  float mean = 0;        // of them
  float deviations = 0;  // the sum of their squared deviations from the mean
};

// How the statistics of two neighbours meet.
NormStatistics join(const NormStatistics& left, const NormStatistics& right);

// [group][channel]
std::vector<std::vector<NormStatistics>> batch_norm_statistics(const BatchNormShape& shape, int examples,
                                                               std::span<const float> x);

struct NormParameters {
  std::span<const float> scale, bias;  // gamma, beta
};

// Running statistics. A training changes them, an evaluation normalises with them.
struct RunningStatistics {
  std::span<float> mean, variance;
};
struct GivenStatistics {
  std::span<const float> mean, variance;
};

// With the statistics of each group.
std::vector<float> batch_norm_forward(const BatchNormShape& shape, int examples, std::span<const float> x,
                                      const NormParameters& parameters);

// With the same statistics for every example.
std::vector<float> batch_norm_evaluation(const BatchNormShape& shape, int examples, std::span<const float> x,
                                         const NormParameters& parameters, const GivenStatistics& given);

std::vector<float> batch_norm_input_gradient(const BatchNormShape& shape, int examples,
                                             std::span<const float> x, std::span<const float> dy,
                                             std::span<const float> scale);

// Sums over the minibatch.
std::vector<float> batch_norm_scale_gradient(const BatchNormShape& shape, int examples,
                                             std::span<const float> x, std::span<const float> dy);
std::vector<float> batch_norm_bias_gradient(const BatchNormShape& shape, int examples,
                                            std::span<const float> dy);

// A step's change of the running statistics. Requires: every group has two values of each channel or more.
void update_running_statistics(const BatchNormShape& shape, int examples, std::span<const float> x,
                               float momentum, const RunningStatistics& running);

}  // namespace lockstep::reference
