#include "reference/evaluate.h"

#include "reference/softmax_cross_entropy.h"

namespace lockstep::reference {

Evaluation evaluate(const model::Model& model, std::span<const Tensor> parameters, const Batch& batch) {
  const int n = batch.examples();
  const std::vector<Tensor> activations = evaluation_forward(model, parameters, n, batch.images);
  const Loss loss = softmax_cross_entropy(model::classes_of(model), activations.back(), batch.labels);
  return {loss_sum(loss.loss) / static_cast<float>(n), loss.correct};
}

}  // namespace lockstep::reference
