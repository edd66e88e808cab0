#include "reference/update.h"

#include <cmath>
#include <cstddef>

namespace lockstep::reference {

std::vector<float> mean_gradient(std::span<const float> sums, int examples) {
  std::vector<float> mean;
  for (const float sum : sums) mean.push_back(sum / static_cast<float>(examples));
  return mean;
}

void sgd(std::span<float> weights, std::span<const float> gradient, float learning_rate) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = std::fma(-learning_rate, gradient[i], weights[i]);
  }
}

void momentum_sgd(std::span<float> weights, std::span<float> velocity, std::span<const float> gradient,
                  const MomentumOptions& options) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    velocity[i] = std::fma(options.momentum, velocity[i], gradient[i]);
    weights[i] = std::fma(-options.learning_rate, velocity[i], weights[i]);
  }
}

}  // namespace lockstep::reference
