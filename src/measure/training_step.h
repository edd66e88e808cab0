// One step of a model's training on devices of its own, ready to be run again and again.
#pragma once
#include <functional>
#include <memory>

#include "measure/synthetic_minibatch.h"
#include "model/model.h"
#include "run/runner.h"

namespace lockstep::measure {

class TrainingStep {
 public:
  // Changes the programs of all ranks before they are loaded.
  using Rewrite = std::function<std::vector<program::Program>(std::vector<program::Program>)>;

  // Requires: minibatch outlives it and fits the model.
  TrainingStep(std::unique_ptr<run::Crew> crew, const model::Model& model,
               const SyntheticMinibatch& minibatch, const program::DataPlan& plan = {},
               const Rewrite& rewrite = nullptr);

  void run();

  double flops() const { return flops_; }  // of one run

 private:
  const SyntheticMinibatch& minibatch_;
  const std::unique_ptr<run::Crew> crew_;
  run::Runner runner_;
  const double flops_;
};

}  // namespace lockstep::measure
