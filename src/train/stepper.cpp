#include "train/stepper.h"

#include "base/error.h"
#include "train/calibrate.h"

namespace lockstep::train {

Stepper::Stepper(run::Crew& crew, const Job& job, const Machine& machine, const data::Dataset& data)
    : job_(job),
      data_(data),
      runner_(make_training_runner(crew, job, with_shares(machine, shares_for(crew, job, machine, data)),
                                   data.size())),
      minibatches_(job.seed, data.size(), job.batch),
      scalars_(step_scalars(job, minibatches_.per_epoch())) {
  check_fits(job.model, data);
}

void Stepper::start() {
  start({.tensors = run::initial_state(job_.model, job_.rule(), initial_weights(job_.model, job_.seed))});
}

void Stepper::start(const TrainState& state) {
  runner_->upload(state.tensors);
  steps_ = state.step;
  runner_->continue_after(steps_);
}

run::StepResult Stepper::step() {
  const int epoch = static_cast<int>(steps_ / minibatches_.per_epoch()) + 1;
  const std::span<const std::uint32_t> examples = minibatches_.at(epoch, steps_ % minibatches_.per_epoch());
  run::StepResult result = runner_->step({.minibatch = {data_.pixels.data(), data_.labels.data(), examples},
                                          .update = scalars_.at(steps_ + 1),
                                          .step = steps_ + 1,
                                          .epoch = epoch,
                                          .seed = job_.seed});
  ++steps_;
  if (!result.finite) throw Error(Fault::diverged, "step {}: the loss or a gradient is not finite", steps_);
  return result;
}

}  // namespace lockstep::train
