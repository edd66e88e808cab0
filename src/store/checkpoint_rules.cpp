#include "store/checkpoint_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace lockstep::store {
namespace {

// An epoch has at most a step for each example, and examples are counted in 32 bits.
constexpr std::int64_t kMostSteps = std::numeric_limits<std::uint32_t>::max();

struct Refusal {
  Fault fault;
  std::string_view file;

  template <class Expected, class Found>
  void unless(bool kept, std::string_view where, const Expected& expected, const Found& found) const {
    if (!kept) throw Error(fault, "{}: {}: expected {}, found {}", file, where, expected, found);
  }
  void unless_finite(double number, std::string_view where) const {
    unless(std::isfinite(number), where, "a finite number", number);
  }
  void unless_seconds(double seconds, std::string_view where) const {
    unless(std::isfinite(seconds) && seconds >= 0, where, "a finite number from 0", seconds);
  }
};

// Where steps and epochs cannot be together, however many steps an epoch has.
void check_place(const Checkpoint& checkpoint, const Refusal& refuse) {
  const std::int64_t step = checkpoint.step, in_epoch = checkpoint.step_in_epoch;
  const std::int64_t before = checkpoint.epoch - std::int64_t{1};  // finished epochs
  const std::int64_t epochs = checkpoint.config.job.epochs;
  refuse.unless(step >= 0, "step", "a whole number from 0", step);
  refuse.unless(before >= 0 && before <= epochs, "epoch",
                fmt::format("a whole number from 1 to {}, one more than the job has", epochs + 1),
                checkpoint.epoch);
  refuse.unless(in_epoch >= 0 && in_epoch <= step, "step_in_epoch",
                fmt::format("a whole number from 0 to {}, the step", step), in_epoch);
  refuse.unless(in_epoch == 0 || before < epochs, "step_in_epoch", "0 after the last epoch", in_epoch);
  const std::int64_t done = step - in_epoch;  // in the finished epochs, of which each has as many steps
  refuse.unless(before == 0 ? done == 0 : done % before == 0, "step",
                before == 0
                    ? fmt::format("{} in epoch 1, as step_in_epoch says", in_epoch)
                    : fmt::format("{} more than a multiple of {}, the finished epochs", in_epoch, before),
                step);
  const std::int64_t per_epoch = before == 0 ? kMostSteps : done / before;
  refuse.unless(per_epoch > in_epoch && per_epoch <= kMostSteps, "step",
                fmt::format("more than {} and at most {} steps an epoch", in_epoch, kMostSteps),
                fmt::format("{} in {} epochs", step, checkpoint.epoch));
  refuse.unless_finite(checkpoint.loss_sum, "loss_sum");
  refuse.unless_seconds(checkpoint.seconds, "seconds");
  if (in_epoch > 0) return;
  refuse.unless(checkpoint.loss_sum == 0, "loss_sum", "0 before the epoch's first step", checkpoint.loss_sum);
  refuse.unless(checkpoint.seconds == 0, "seconds", "0 before the epoch's first step", checkpoint.seconds);
}

void check_epochs(const Checkpoint& checkpoint, const Refusal& refuse) {
  const auto before = static_cast<std::size_t>(checkpoint.epoch - 1);
  refuse.unless(checkpoint.epochs.size() == before, "epochs",
                fmt::format("{}, all before epoch {}", before, checkpoint.epoch), checkpoint.epochs.size());
  int number = 0;
  for (const FinishedEpoch& epoch : checkpoint.epochs) {
    const std::string where = fmt::format("finished epoch {}", ++number);
    refuse.unless(epoch.epoch == number, where, "the epochs from 1 on, in order", epoch.epoch);
    refuse.unless_finite(epoch.train_loss, where + ": train_loss");
    refuse.unless_finite(epoch.test_loss, where + ": test_loss");
    refuse.unless_seconds(epoch.seconds, where + ": seconds");
    refuse.unless_seconds(epoch.evaluation_seconds, where + ": evaluation_seconds");
    refuse.unless(epoch.test_examples >= 1, where + ": test_examples", "a whole number from 1",
                  epoch.test_examples);
    refuse.unless(epoch.test_correct >= 0 && epoch.test_correct <= epoch.test_examples,
                  where + ": test_correct", fmt::format("a whole number from 0 to {}", epoch.test_examples),
                  epoch.test_correct);
  }
}

std::string described(const TensorShape& tensor) {
  return fmt::format("tensor {:?} of shape [{}]", tensor.name, fmt::join(tensor.shape, ", "));
}

}  // namespace

void check_rules(const Checkpoint& checkpoint, Fault fault, std::string_view file) {
  const Refusal refuse{fault, file};
  check_place(checkpoint, refuse);
  check_epochs(checkpoint, refuse);
  const DataSizes& sizes = checkpoint.config.job.data_sizes;
  if (sizes.known()) check_data(checkpoint, sizes, fault, file);
}

void check_data(const Checkpoint& checkpoint, const DataSizes& sizes, Fault fault, std::string_view file) {
  const Refusal refuse{fault, file};
  const std::int64_t batch = std::min<std::int64_t>(checkpoint.config.job.batch, sizes.train);
  const std::int64_t per_epoch = sizes.train / batch + (sizes.train % batch != 0 ? 1 : 0);
  refuse.unless(checkpoint.step_in_epoch < per_epoch, "step_in_epoch",
                fmt::format("a whole number below {}, the steps of an epoch", per_epoch),
                checkpoint.step_in_epoch);
  const std::int64_t before = checkpoint.epoch - std::int64_t{1};
  const std::int64_t done = checkpoint.step - checkpoint.step_in_epoch;
  refuse.unless(done % per_epoch == 0 && done / per_epoch == before, "step",
                fmt::format("step {} of epoch {}, with {} steps an epoch", checkpoint.step_in_epoch,
                            checkpoint.epoch, per_epoch),
                checkpoint.step);
  for (const FinishedEpoch& epoch : checkpoint.epochs)
    refuse.unless(epoch.test_examples == sizes.test,
                  fmt::format("finished epoch {}: test_examples", epoch.epoch), sizes.test,
                  epoch.test_examples);
}

void check_tensors(const std::vector<TensorShape>& found, const ExpectedTensors& expected,
                   std::string_view file) {
  const Refusal refuse{Fault::data, file};
  const std::size_t common = std::min(found.size(), expected.tensors.size());
  for (std::size_t i = 0; i < common; ++i)
    refuse.unless(found[i] == expected.tensors[i], "tensors",
                  fmt::format("{} of {}", described(expected.tensors[i]), expected.of), described(found[i]));
  if (found.size() < expected.tensors.size())
    refuse.unless(false, "tensors", fmt::format("{} of {}", described(expected.tensors[common]), expected.of),
                  fmt::format("only {} tensors", found.size()));
  if (found.size() > expected.tensors.size())
    refuse.unless(false, "tensors", fmt::format("the {} of {}", expected.tensors.size(), expected.of),
                  fmt::format("{} as well", described(found[common])));
}

}  // namespace lockstep::store
