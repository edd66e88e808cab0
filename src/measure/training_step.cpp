#include "measure/training_step.h"

#include <utility>

#include "base/error.h"
#include "measure/instruction_work.h"
#include "program/compile.h"
#include "train/job.h"

namespace lockstep::measure {
namespace {

run::RunnerOptions with_room_for(const SyntheticMinibatch& minibatch, run::RunnerOptions options) {
  options.most_examples = minibatch.examples();
  return options;
}

}  // namespace

TrainingStep::TrainingStep(std::unique_ptr<run::Crew> crew, const model::Model& model,
                           const SyntheticMinibatch& minibatch, run::RunnerOptions options)
    : minibatch_(minibatch),
      crew_(std::move(crew)),
      runner_(*crew_, program::compile_training(model), with_room_for(minibatch, std::move(options))),
      flops_(flops_per_example(runner_.program()) * minibatch.examples()) {
  runner_.upload(train::initial_weights(model, 0));
}

void TrainingStep::run() {
  check(runner_.step(minibatch_.step_input()).finite, "a step on synthetic examples is not finite");
}

}  // namespace lockstep::measure
