// What a training tells its devices about each step.
#include <gtest/gtest.h>

#include "device/passing_on.h"
#include "reference/update_scalars.h"
#include "train/stepper.h"
#include "train/trainer_job_for_test.h"

namespace lockstep::train {
namespace {

// A step's input but for its examples.
struct Told {
  std::int64_t step = 0;
  int epoch = 0;
  std::uint64_t seed = 0;
  arithmetic::UpdateScalars update = {};
  bool operator==(const Told&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Told& told) {
  return out << "step " << told.step << " of epoch " << told.epoch << ", seed " << told.seed << ", rate "
             << told.update.learning_rate << ", eps " << told.update.eps;
}

// Notes what the training program is told in its first segment.
class ListeningDevice final : public device::PassingDevice {
 public:
  ListeningDevice(std::unique_ptr<device::Device> inner, std::vector<Told>& told)
      : PassingDevice(*inner), inner_(std::move(inner)), told_(told) {}
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    std::unique_ptr<device::Executable> executable = inner_->load(program, options);
    if (program.purpose != program::Purpose::training) return executable;
    return std::make_unique<Executable>(std::move(executable), told_);
  }

 private:
  class Executable final : public device::PassingExecutable {
   public:
    Executable(std::unique_ptr<device::Executable> inner, std::vector<Told>& told)
        : PassingExecutable(std::move(inner)), told_(told) {}
    void run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override {
      if (segment == 0) told_.push_back({input.step, input.epoch, input.seed, input.update});
      inner().run(segment, input, watcher);
    }

   private:
    std::vector<Told>& told_;
  };

  const std::unique_ptr<device::Device> inner_;
  std::vector<Told>& told_;
};

constexpr std::uint64_t kSeed = 0x123456789abcdef0;

// Its scalars differ from step to step.
Job job_with_schedule() {
  Job job = kJob;
  job.seed = kSeed;
  job.optimizer = {.kind = arithmetic::UpdateKind::adamw, .weight_decay = 0.1};
  job.schedule = {.kind = arithmetic::ScheduleKind::cosine, .warmup = 3};
  return job;
}

// Steps (first, last] of a training with four steps an epoch.
std::vector<Told> steps_after(std::int64_t first, std::int64_t last) {
  const Job job = job_with_schedule();
  const reference::UpdateOptions options{.optimizer = job.optimizer,
                                         .schedule = job.schedule,
                                         .learning_rate = job.learning_rate,
                                         .steps_per_epoch = 4,
                                         .epochs = job.epochs};
  std::vector<Told> expected;
  for (std::int64_t step = first + 1; step <= last; ++step)
    expected.push_back(
        {step, static_cast<int>((step - 1) / 4) + 1, kSeed, reference::update_scalars(options, step)});
  return expected;
}

class StepInput : public testing::Test {
 protected:
  std::vector<Told> told_;
  ListeningDevice device_{cpu::make_cpu_device({.threads = 1}), told_};
};

TEST_F(StepInput, ATrainingTellsStepEpochSeedAndScalars) {
  train(job_with_schedule(), kData, device_);
  EXPECT_EQ(told_, steps_after(0, 12));
}

TEST_F(StepInput, ATrainingThatGoesOnCountsOn) {
  TrainState saved;
  int asked = 0;
  train(job_with_schedule(), kData, device_, {.stop = [&] { return asked++ == 5; }},
        {.checkpoint = [&](const TrainState& state) { saved = state; }});
  told_.clear();
  train(job_with_schedule(), kData, device_, {.resume = saved});
  EXPECT_EQ(told_, steps_after(5, 12));
}

TEST_F(StepInput, AStepperTellsTheSame) {
  run::Crew crew({&device_});
  Stepper stepper(crew, job_with_schedule(), {}, kData.train);
  stepper.start();
  while (stepper.steps() < 9) stepper.step();
  EXPECT_EQ(told_, steps_after(0, 9));
}

}  // namespace
}  // namespace lockstep::train
