// Where a number of a step is first NaN or infinite, found by running it again with every layer's output
// kept.
#pragma once
#include <string>

#include "train/job.h"

namespace lockstep::train {

struct Divergence {
  std::string where;  // "the output of conv2", "the gradient of conv1.weight"
  int example = -1;   // the lowest one, counted in the minibatch; -1: the sum over the minibatch
};

// Requires: `failed` has just run a training step with `input` that a Check stopped, so its weights are those
// from before the step.
Divergence find_divergence(device::Device& device, const model::Model& model, run::Runner& failed,
                           const device::StepInput& input);

}  // namespace lockstep::train
