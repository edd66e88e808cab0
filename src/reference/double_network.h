// The network once more, in double and with the plain formulas: the outside oracle for the twins, and the one
// place where a tolerance is right.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"
#include "reference/dropout.h"

namespace lockstep::reference {

using Doubles = std::vector<double>;

// By value (model/model.h), of a minibatch in training: [example][channel][y][x], like the images.
// parameters: in the order of model::parameters_of.
std::vector<Doubles> double_values(const model::Model& model, std::span<const Doubles> parameters,
                                   std::span<const float> images, const Draws& draws = {});

// Softmax cross entropy.
double double_mean_loss(const model::Model& model, std::span<const Doubles> parameters,
                        std::span<const float> images, std::span<const std::uint8_t> labels,
                        const Draws& draws = {});

}  // namespace lockstep::reference
