#include "measure/training_step.h"

#include <utility>

#include "base/error.h"
#include "measure/instruction_work.h"
#include "program/compile.h"
#include "train/job.h"

namespace lockstep::measure {
namespace {

run::Programs rewritten(run::Programs programs, const TrainingStep::Rewrite& rewrite) {
  if (rewrite == nullptr) return programs;
  programs.make = [make = std::move(programs.make), rewrite](int packs) { return rewrite(make(packs)); };
  return programs;
}

}  // namespace

TrainingStep::TrainingStep(std::unique_ptr<run::Crew> crew, const model::Model& model,
                           const SyntheticMinibatch& minibatch, const program::DataPlan& plan,
                           const Rewrite& rewrite)
    : minibatch_(minibatch),
      crew_(std::move(crew)),
      runner_(*crew_,
              rewritten(run::data_parallel(program::compile_training(model), run::plan_for(*crew_, plan)),
                        rewrite),
              {.most_examples = minibatch.examples()}),
      flops_(flops_per_example(runner_.program()) * minibatch.examples()) {
  runner_.upload(train::initial_weights(model, 0));
}

void TrainingStep::run() {
  check(runner_.step(minibatch_.step_input()).finite, "a step on synthetic examples is not finite");
}

}  // namespace lockstep::measure
