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

// By value (model/model.h), of one example of a training step, by its place in the minibatch. parameters: in
// the order of model::parameters_of.
std::vector<Doubles> double_values(const model::Model& model, std::span<const Doubles> parameters,
                                   std::span<const float> image, const Draws& draws, std::size_t example);

// Softmax cross entropy. images: [example][channel][y][x]
double double_mean_loss(const model::Model& model, std::span<const Doubles> parameters,
                        std::span<const float> images, std::span<const std::uint8_t> labels,
                        const Draws& draws);

}  // namespace lockstep::reference
