// A model's graph of layers in model order, forwards and backwards, in plain tensors.
#pragma once
#include <span>
#include <vector>

#include "model/model.h"
#include "reference/dropout.h"

namespace lockstep::reference {

using Tensor = std::vector<float>;

// By value (model/model.h): entry 0 is the input, entry i + 1 what layer i gives, [example][channel][y][x].
// parameters: in the order of model::parameters_of. draws: of a training step; null in an evaluation.
std::vector<Tensor> forward(const model::Model& model, std::span<const Tensor> parameters, int examples,
                            std::span<const float> input, const Draws* draws = nullptr);

// The parameters' gradients, in the same order, as sums over the minibatch; dz is the loss's gradient.
std::vector<Tensor> backward(const model::Model& model, std::span<const Tensor> parameters, int examples,
                             std::span<const Tensor> activations, Tensor dz, const Draws& draws = {});

}  // namespace lockstep::reference
