// Naive twins of what happens to a gradient after the pack tree, element by element.
#pragma once
#include <span>
#include <vector>

#include "arithmetic/update_rule.h"
#include "model/model.h"

namespace lockstep::reference {

// sums / (float)examples
std::vector<float> mean_gradient(std::span<const float> sums, int examples);

// w = fma(-lr, g, w)
void sgd(std::span<float> weights, std::span<const float> gradient, float learning_rate);

struct MomentumOptions {
  float learning_rate = 0, momentum = 0;
};

// v = fma(mu, v, g), w = fma(-lr, v, w)
void momentum_sgd(std::span<float> weights, std::span<float> velocity, std::span<const float> gradient,
                  const MomentumOptions& options);

// v = fma(mu, v, g), w = fma(-lr, fma(mu, v, g), w)
void nesterov_sgd(std::span<float> weights, std::span<float> velocity, std::span<const float> gradient,
                  const MomentumOptions& options);

// m = fma(b1, m, (1-b1)*g), v = fma(b2, v, ((1-b2)*g)*g), w = fma(-lr_t, m / (sqrt(v) + eps_t), w)
void adam(std::span<float> weights, std::span<std::vector<float>> moments, std::span<const float> gradient,
          const arithmetic::UpdateScalars& scalars);

// The twin of a step: decay, unless its scalar is 0, then the rule. Requires: as many states as the rule has,
// in its order.
void update(arithmetic::UpdateKind rule, std::span<float> weights, std::span<std::vector<float>> states,
            std::span<const float> gradient, const arithmetic::UpdateScalars& scalars);

// The scalars of a step for this parameter: only weights of convolution and linear layers decay.
arithmetic::UpdateScalars scalars_for(const model::Model& model, const model::Parameter& parameter,
                                      arithmetic::UpdateScalars scalars);

}  // namespace lockstep::reference
