// A training that its caller drives, step by step: what it computes is what train() computes.
#pragma once
#include "train/minibatches.h"
#include "train/trainer.h"

namespace lockstep::train {

class Stepper {
 public:
  // Requires: crew and data outlive it.
  Stepper(run::Crew& crew, const Job& job, const Machine& machine, const data::Dataset& data);

  // From the beginning, or from where a training stood.
  void start();
  void start(const TrainState& state);

  // Throws Error(diverged) if the step is not finite.
  run::StepResult step();

  // Steps done since the start of training.
  std::int64_t steps() const { return steps_; }
  run::Runner& runner() { return *runner_; }

 private:
  const Job job_;
  const data::Dataset& data_;
  const std::unique_ptr<run::Runner> runner_;
  Minibatches minibatches_;
  arithmetic::StepScalars scalars_;
  std::int64_t steps_ = 0;
};

}  // namespace lockstep::train
