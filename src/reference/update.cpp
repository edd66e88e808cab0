#include "reference/update.h"

#include <cmath>
#include <cstddef>
#include <variant>

namespace lockstep::reference {

using arithmetic::UpdateKind;
using arithmetic::UpdateScalars;

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

void nesterov_sgd(std::span<float> weights, std::span<float> velocity, std::span<const float> gradient,
                  const MomentumOptions& options) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    velocity[i] = std::fma(options.momentum, velocity[i], gradient[i]);
    const float ahead = std::fma(options.momentum, velocity[i], gradient[i]);
    weights[i] = std::fma(-options.learning_rate, ahead, weights[i]);
  }
}

void adam(std::span<float> weights, std::span<std::vector<float>> moments, std::span<const float> gradient,
          const UpdateScalars& scalars) {
  std::vector<float>&m = moments[0], &v = moments[1];
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float g = gradient[i];
    const float part_of_g = scalars.one_minus_beta1 * g;
    m[i] = std::fma(scalars.beta1, m[i], part_of_g);
    const float part_of_square = scalars.one_minus_beta2 * g;
    const float square = part_of_square * g;
    v[i] = std::fma(scalars.beta2, v[i], square);
    const float root = std::sqrt(v[i]);
    const float divisor = root + scalars.eps;
    const float quotient = m[i] / divisor;
    weights[i] = std::fma(-scalars.learning_rate, quotient, weights[i]);
  }
}

namespace {

void apply_rule(UpdateKind rule, std::span<float> weights, std::span<std::vector<float>> states,
                std::span<const float> gradient, const UpdateScalars& scalars) {
  switch (rule) {
    case UpdateKind::sgd:
      return sgd(weights, gradient, scalars.learning_rate);
    case UpdateKind::momentum:
      return momentum_sgd(weights, states[0], gradient, {scalars.learning_rate, scalars.momentum});
    case UpdateKind::nesterov:
      return nesterov_sgd(weights, states[0], gradient, {scalars.learning_rate, scalars.momentum});
    case UpdateKind::adam:
    case UpdateKind::adamw:
      return adam(weights, states, gradient, scalars);
  }
}

}  // namespace

void update(UpdateKind rule, std::span<float> weights, std::span<std::vector<float>> states,
            std::span<const float> gradient, const UpdateScalars& scalars) {
  std::vector<float> decayed(gradient.begin(), gradient.end());
  const float decay = scalars.weight_decay;
  if (decay != 0) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (rule == UpdateKind::adamw) {
        weights[i] = std::fma(-decay, weights[i], weights[i]);
      } else {
        decayed[i] = std::fma(decay, weights[i], decayed[i]);
      }
    }
  }
  apply_rule(rule, weights, states, decayed, scalars);
}

UpdateScalars scalars_for(const model::Model& model, const model::Parameter& parameter,
                          UpdateScalars scalars) {
  const model::LayerKind& kind = model.layers[static_cast<std::size_t>(parameter.layer)].kind;
  const bool multiplies =
      std::holds_alternative<model::Conv2d>(kind) || std::holds_alternative<model::Linear>(kind);
  if (!multiplies || !parameter.name.ends_with(".weight")) scalars.weight_decay = 0;
  return scalars;
}

}  // namespace lockstep::reference
