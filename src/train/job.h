// What a training run computes: everything its bits depend on, and the means to compute it.
#pragma once
#include <cstdint>
#include <span>

#include "arithmetic/update_rule.h"
#include "data/dataset.h"
#include "device/device.h"
#include "model/model.h"
#include "run/runner.h"

namespace lockstep::train {

using run::Weights;

struct Job {
  model::Model model;
  std::uint64_t seed = 0;
  int batch = 256;
  float learning_rate = 0.2f;
  int epochs = 10;
  float momentum = 0;

  // What these options mean for the update of a parameter.
  arithmetic::UpdateKind rule() const { return arithmetic::rule_for_momentum(momentum); }
  arithmetic::UpdateScalars update() const { return {.learning_rate = learning_rate, .momentum = momentum}; }
};

// What the parameters start with, by the seed.
Weights initial_weights(const model::Model& model, std::uint64_t seed);

// XXH3-128 over the numbers of all parameters in model order.
Hash128 hash_of(const Weights& weights);

// Throws Error(usage) if the data's pictures or classes are not what the model takes.
void check_fits(const model::Model& model, const data::Dataset& dataset);

}  // namespace lockstep::train
