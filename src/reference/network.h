// A model's graph of layers in model order, forwards and backwards, in plain tensors.
#pragma once
#include <span>
#include <vector>

#include "model/model.h"
#include "reference/dropout.h"

namespace lockstep::reference {

using Tensor = std::vector<float>;

// By value (model/model.h): entry 0 is the input, entry i + 1 what layer i gives, [example][channel][y][x].
// parameters: in the order of model::parameters_of. A step of training: batch norms take the statistics of
// the minibatch, dropout draws.
std::vector<Tensor> forward(const model::Model& model, std::span<const Tensor> parameters, int examples,
                            std::span<const float> input, const Draws& draws = {});

// The same in an evaluation: with the running statistics, and without dropout.
std::vector<Tensor> evaluation_forward(const model::Model& model, std::span<const Tensor> parameters,
                                       int examples, std::span<const float> input);

// The parameters' gradients, in the same order, as sums over the minibatch; dz is the loss's gradient. A
// parameter that is not trained has an empty tensor in its place.
std::vector<Tensor> backward(const model::Model& model, std::span<const Tensor> parameters, int examples,
                             std::span<const Tensor> activations, Tensor dz, const Draws& draws = {});

// A step's change of the running statistics, which are parameters. activations: what forward() gave.
void update_running_statistics(const model::Model& model, std::span<Tensor> parameters, int examples,
                               std::span<const Tensor> activations);

}  // namespace lockstep::reference
