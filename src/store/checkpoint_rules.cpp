#include "store/checkpoint_rules.h"

#include <cmath>

#include <fmt/format.h>

namespace lockstep::store {
namespace {

struct Refusal {
  Fault fault;
  std::string_view file;

  template <class Found>
  void unless(bool kept, std::string_view where, std::string_view expected, const Found& found) const {
    if (!kept) throw Error(fault, "{}: {}: expected {}, found {}", file, where, expected, found);
  }
  void unless_seconds(double seconds, std::string_view where) const {
    unless(std::isfinite(seconds) && seconds >= 0, where, "a finite number from 0", seconds);
  }
};

void check_place(const Checkpoint& checkpoint, const Refusal& refuse) {
  refuse.unless(checkpoint.step >= 0, "step", "a whole number from 0", checkpoint.step);
  refuse.unless(checkpoint.epoch >= 1, "epoch", "a whole number from 1", checkpoint.epoch);
  refuse.unless(checkpoint.step_in_epoch >= 0 && checkpoint.step_in_epoch <= checkpoint.step, "step_in_epoch",
                fmt::format("a whole number from 0 to {}, the step", checkpoint.step),
                checkpoint.step_in_epoch);
  refuse.unless_seconds(checkpoint.seconds, "seconds");
}

void check_epochs(const Checkpoint& checkpoint, const Refusal& refuse) {
  int number = 0;
  for (const FinishedEpoch& epoch : checkpoint.epochs) {
    const std::string where = fmt::format("finished epoch {}", ++number);
    refuse.unless(epoch.epoch == number && number <= checkpoint.epoch, where,
                  fmt::format("the epochs from 1 on, in order, to {} at most", checkpoint.epoch),
                  epoch.epoch);
    refuse.unless_seconds(epoch.seconds, where + ": seconds");
    refuse.unless_seconds(epoch.evaluation_seconds, where + ": evaluation_seconds");
    refuse.unless(epoch.test_examples >= 0, where + ": test_examples", "a whole number from 0",
                  epoch.test_examples);
    refuse.unless(epoch.test_correct >= 0 && epoch.test_correct <= epoch.test_examples,
                  where + ": test_correct", fmt::format("a whole number from 0 to {}", epoch.test_examples),
                  epoch.test_correct);
  }
}

std::string described(const Tensor& tensor) {
  return fmt::format("tensor {:?} of shape [{}]", tensor.name, fmt::join(tensor.shape, ", "));
}

void check_tensors(const Checkpoint& checkpoint, const Refusal& refuse) {
  for (const Tensor& tensor : checkpoint.parameters)
    refuse.unless(!tensor.name.starts_with(kVelocityPrefix), "parameters", "names of parameters",
                  described(tensor));
  if (checkpoint.velocity.empty() && checkpoint.config.job.momentum == 0) return;
  refuse.unless(checkpoint.velocity.size() == checkpoint.parameters.size(), "velocity",
                fmt::format("a tensor for each of {} parameters", checkpoint.parameters.size()),
                checkpoint.velocity.size());
  for (std::size_t i = 0; i < checkpoint.parameters.size(); ++i) {
    const Tensor& parameter = checkpoint.parameters[i];
    const Tensor& velocity = checkpoint.velocity[i];
    refuse.unless(velocity.name == parameter.name && velocity.shape == parameter.shape, "velocity",
                  described(parameter), described(velocity));
  }
}

}  // namespace

void check_rules(const Checkpoint& checkpoint, Fault fault, std::string_view file) {
  const Refusal refuse{fault, file};
  check_place(checkpoint, refuse);
  check_epochs(checkpoint, refuse);
  check_tensors(checkpoint, refuse);
}

}  // namespace lockstep::store
