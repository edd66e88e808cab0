#include "reference/step.h"

#include <cstddef>

#include "arithmetic/initial_weights.h"
#include "reference/softmax_cross_entropy.h"
#include "reference/update.h"

namespace lockstep::reference {

Step train_step(const model::Model& model, std::span<const Tensor> parameters, const Batch& batch,
                float learning_rate) {
  const int n = batch.examples();
  const std::vector<Tensor> activations = forward(model, parameters, n, batch.images);
  const Loss loss = softmax_cross_entropy(model::classes_of(model), activations.back(), batch.labels);
  const std::vector<Tensor> sums = backward(model, parameters, n, activations, loss.dz);

  Step step;
  step.loss = loss_sum(loss.loss) / static_cast<float>(n);
  step.correct = loss.correct;
  step.parameters.assign(parameters.begin(), parameters.end());
  for (std::size_t p = 0; p < sums.size(); ++p) {
    step.gradients.push_back(mean_gradient(sums[p], n));
    sgd(step.parameters[p], step.gradients[p], learning_rate);
  }
  return step;
}

std::vector<Tensor> initial_parameters(const model::Model& model, std::uint64_t seed) {
  std::vector<Tensor> parameters;
  for (const model::Parameter& parameter : model::parameters_of(model)) {
    Tensor values(parameter.elements());
    if (parameter.role == model::Parameter::Role::weight) {
      arithmetic::fill_initial(values, parameter.name, seed, static_cast<float>(model.sigma));
    }
    parameters.push_back(std::move(values));
  }
  return parameters;
}

}  // namespace lockstep::reference
