// Naive twins of what happens to a gradient after the pack tree, element by element.
#pragma once
#include <span>
#include <vector>

#include "arithmetic/update_rule.h"

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

// The twin of a rule. Requires: as many states as the rule has, in its order.
void update(arithmetic::UpdateKind rule, std::span<float> weights, std::span<std::vector<float>> states,
            std::span<const float> gradient, const arithmetic::UpdateScalars& scalars);

}  // namespace lockstep::reference
