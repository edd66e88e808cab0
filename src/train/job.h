// What a training run computes: everything its bits depend on, and the means to compute it.
#pragma once
#include <cstdint>
#include <span>

#include "arithmetic/step_scalars.h"
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
  arithmetic::Optimizer optimizer = {};
  arithmetic::Schedule schedule = {};

  arithmetic::UpdateKind rule() const { return optimizer.kind; }
};

// The scalars of every step's update, in epochs of so many steps. Throws Error(usage) if the schedule does
// not fit the training.
inline arithmetic::StepScalars step_scalars(const Job& job, std::int64_t steps_per_epoch) {
  return {job.optimizer, job.schedule, job.learning_rate, {steps_per_epoch, job.epochs}};
}

// What the parameters start with, by the seed.
Weights initial_weights(const model::Model& model, std::uint64_t seed);

// XXH3-128 over the numbers of all parameters in model order.
Hash128 hash_of(const Weights& weights);

// Throws Error(usage) if the data's pictures or classes are not what the model takes.
void check_fits(const model::Model& model, const data::Dataset& dataset);

}  // namespace lockstep::train
