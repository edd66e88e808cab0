#include "reference/step.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>

#include "arithmetic/initial_weights.h"
#include "base/random.h"
#include "reference/softmax_cross_entropy.h"
#include "reference/update.h"

namespace lockstep::reference {
namespace {

struct FirstValues {
  const model::Parameter& parameter;
  std::uint64_t seed;
  Tensor& values;

  void operator()(const model::Normal& normal) const {
    arithmetic::fill_initial(values, parameter.name, seed, static_cast<float>(normal.sigma));
  }
  void operator()(const model::KaimingUniform&) const {
    uniform(static_cast<float>(std::sqrt(6.0 / static_cast<double>(parameter.fans.in))));
  }
  void operator()(const model::XavierUniform&) const {
    const auto fans = static_cast<double>(parameter.fans.in + parameter.fans.out);
    uniform(static_cast<float>(std::sqrt(6.0 / fans)));
  }
  void operator()(const model::Constant& constant) const {
    for (float& value : values) value = constant.value;
  }

  void uniform(float bound) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint32_t word = random_block(seed, i / 4, 0, stream_id("init:" + parameter.name))[i % 4];
      const float u = static_cast<float>(word >> 8) * 0x1p-24f;
      values[i] = std::fma(2 * u, bound, -bound);
    }
  }
};

bool all_finite(const Tensor& tensor) {
  return std::ranges::all_of(tensor, [](float value) { return std::isfinite(value); });
}

}  // namespace

Step train_step(const model::Model& model, std::span<const Tensor> parameters, const Batch& batch,
                float learning_rate) {
  const int n = batch.examples();
  const std::vector<Tensor> activations = forward(model, parameters, n, batch.images, batch.draws);
  const Loss loss = softmax_cross_entropy(model::classes_of(model), activations.back(), batch.labels);
  const std::vector<Tensor> sums = backward(model, parameters, n, activations, loss.dz, batch.draws);

  Step step;
  step.loss = loss_sum(loss.loss) / static_cast<float>(n);
  step.correct = loss.correct;
  step.finite = std::isfinite(step.loss);
  for (const Tensor& sum : sums) {
    step.gradients.push_back(mean_gradient(sum, n));
    step.finite = step.finite && all_finite(step.gradients.back());
  }
  step.parameters.assign(parameters.begin(), parameters.end());
  if (!step.finite) return step;
  for (std::size_t p = 0; p < sums.size(); ++p) {
    if (!sums[p].empty()) sgd(step.parameters[p], step.gradients[p], learning_rate);
  }
  update_running_statistics(model, step.parameters, n, activations);
  return step;
}

std::vector<Tensor> initial_parameters(const model::Model& model, std::uint64_t seed) {
  std::vector<Tensor> parameters;
  for (const model::Parameter& parameter : model::parameters_of(model)) {
    parameters.emplace_back(parameter.elements());
    const FirstValues first{parameter, seed, parameters.back()};
    std::visit(first, parameter.initial);
  }
  return parameters;
}

}  // namespace lockstep::reference
