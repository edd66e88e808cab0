// What a training tells its devices about each step.
#include <gtest/gtest.h>

#include "device/passing_on.h"
#include "train/stepper.h"
#include "train/trainer_job_for_test.h"

namespace lockstep::train {
namespace {

// A step's input but for its examples.
struct Told {
  std::int64_t step = 0;
  int epoch = 0;
  std::uint64_t seed = 0;
  float learning_rate = 0, momentum = 0;
  bool operator==(const Told&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Told& told) {
  return out << "step " << told.step << " of epoch " << told.epoch << ", seed " << told.seed << ", rate "
             << told.learning_rate << ", momentum " << told.momentum;
}

// Notes what the training program is told in its first segment.
class ListeningDevice final : public device::PassingDevice {
 public:
  ListeningDevice(std::unique_ptr<device::Device> inner, std::vector<Told>& told)
      : PassingDevice(*inner), inner_(std::move(inner)), told_(told) {}
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    std::unique_ptr<device::Executable> executable = inner_->load(program, options);
    if (program.gradients.empty()) return executable;
    return std::make_unique<Executable>(std::move(executable), told_);
  }

 private:
  class Executable final : public device::PassingExecutable {
   public:
    Executable(std::unique_ptr<device::Executable> inner, std::vector<Told>& told)
        : PassingExecutable(std::move(inner)), told_(told) {}
    bool run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override {
      if (segment == 0)
        told_.push_back(
            {input.step, input.epoch, input.seed, input.update.learning_rate, input.update.momentum});
      return inner().run(segment, input, watcher);
    }

   private:
    std::vector<Told>& told_;
  };

  const std::unique_ptr<device::Device> inner_;
  std::vector<Told>& told_;
};

constexpr std::uint64_t kSeed = 0x123456789abcdef0;

Job job_with_momentum() {
  Job job = kJob;
  job.seed = kSeed;
  job.momentum = 0.5f;
  return job;
}

// Steps (first, last] of a training with four steps an epoch.
std::vector<Told> steps_after(std::int64_t first, std::int64_t last) {
  std::vector<Told> expected;
  for (std::int64_t step = first + 1; step <= last; ++step)
    expected.push_back({step, static_cast<int>((step - 1) / 4) + 1, kSeed, 0.3f, 0.5f});
  return expected;
}

class StepInput : public testing::Test {
 protected:
  std::vector<Told> told_;
  ListeningDevice device_{cpu::make_cpu_device({.threads = 1}), told_};
};

TEST_F(StepInput, ATrainingTellsStepEpochSeedAndScalars) {
  train(job_with_momentum(), kData, device_);
  EXPECT_EQ(told_, steps_after(0, 12));
}

TEST_F(StepInput, ATrainingThatGoesOnCountsOn) {
  TrainState saved;
  int asked = 0;
  train(job_with_momentum(), kData, device_, {.stop = [&] { return asked++ == 5; }},
        {.checkpoint = [&](const TrainState& state) { saved = state; }});
  told_.clear();
  train(job_with_momentum(), kData, device_, {.resume = saved});
  EXPECT_EQ(told_, steps_after(5, 12));
}

TEST_F(StepInput, AStepperTellsTheSame) {
  run::Crew crew({&device_});
  Stepper stepper(crew, job_with_momentum(), {}, kData.train);
  stepper.start();
  while (stepper.steps() < 9) stepper.step();
  EXPECT_EQ(told_, steps_after(0, 9));
}

}  // namespace
}  // namespace lockstep::train
