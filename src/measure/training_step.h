// One step of a model's training on devices of its own, ready to be run again and again.
#pragma once
#include <memory>

#include "measure/synthetic_minibatch.h"
#include "model/model.h"
#include "run/runner.h"

namespace lockstep::measure {

class TrainingStep {
 public:
  // The room for examples is the minibatch's, whatever the options say.
  // Requires: minibatch outlives it and fits the model.
  TrainingStep(std::unique_ptr<run::Crew> crew, const model::Model& model,
               const SyntheticMinibatch& minibatch, run::RunnerOptions options = {});

  void run();

  double flops() const { return flops_; }  // of one run

 private:
  const SyntheticMinibatch& minibatch_;
  const std::unique_ptr<run::Crew> crew_;
  run::Runner runner_;
  const double flops_;
};

}  // namespace lockstep::measure
