// One whole step of training, in plain loops: what every device and every split must give.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "reference/network.h"

namespace lockstep::reference {

// A global minibatch.
struct Batch {
  std::span<const float> images;  // [example][channel][y][x]
  std::span<const std::uint8_t> labels;
  Draws draws = {};  // for models that drop elements

  int examples() const { return static_cast<int>(labels.size()); }
};

struct Step {
  float loss = 0;  // mean over the minibatch
  int correct = 0;
  std::vector<Tensor> gradients;   // means, in the order of model::parameters_of; empty if it is not trained
  bool finite = true;              // the loss and the gradients
  std::vector<Tensor> parameters;  // after the update, with new running statistics
};

// Forward, loss, backward, mean, SGD. A step that is not finite changes no parameter.
Step train_step(const model::Model& model, std::span<const Tensor> parameters, const Batch& batch,
                float learning_rate);

// The parameters a run begins with.
std::vector<Tensor> initial_parameters(const model::Model& model, std::uint64_t seed);

}  // namespace lockstep::reference
