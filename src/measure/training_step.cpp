#include "measure/training_step.h"

#include <utility>

#include "base/error.h"
#include "measure/instruction_work.h"
#include "model/zoo.h"
#include "program/compile.h"
#include "train/job.h"

namespace lockstep::measure {

TrainingStep::TrainingStep(std::unique_ptr<device::Device> device, const SyntheticMinibatch& minibatch)
    : minibatch_(minibatch),
      device_(std::move(device)),
      runner_(*device_, program::compile_training(model::lenet()), {.most_examples = minibatch.examples()}),
      flops_(flops_per_example(runner_.program()) * minibatch.examples()) {
  runner_.upload(train::initial_weights(model::lenet(), 0));
}

void TrainingStep::run() {
  check(runner_.step(minibatch_.step_input()).finite, "a step on synthetic examples is not finite");
}

}  // namespace lockstep::measure
