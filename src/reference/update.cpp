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

void update(arithmetic::UpdateKind rule, std::span<float> weights, std::span<std::vector<float>> states,
            std::span<const float> gradient, const arithmetic::UpdateScalars& scalars) {
  switch (rule) {
    case arithmetic::UpdateKind::sgd:
      return sgd(weights, gradient, scalars.learning_rate);
    case arithmetic::UpdateKind::momentum:
      return momentum_sgd(weights, states[0], gradient, {scalars.learning_rate, scalars.momentum});
  }
}

}  // namespace lockstep::reference
