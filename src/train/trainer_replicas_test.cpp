// Replicas that part, and parameters that are not finite, end a training before they are kept.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/refusal_for_test.h"
#include "device/passing_on.h"
#include "train/trainer_job_for_test.h"

namespace lockstep::train {
namespace {

// After a step, one number of the middle parameter is wrong, and no rounding of later steps mends it.
class WrongDevice final : public device::PassingDevice {
 public:
  WrongDevice(std::unique_ptr<device::Device> inner, std::int64_t step)
      : PassingDevice(*inner), inner_(std::move(inner)), step_(step) {}
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    std::unique_ptr<device::Executable> executable = inner_->load(program, options);
    if (program.purpose != program::Purpose::training) return executable;
    return std::make_unique<Executable>(std::move(executable), program, step_);
  }

 private:
  class Executable final : public device::PassingExecutable {
   public:
    Executable(std::unique_ptr<device::Executable> inner, const program::Program& program, std::int64_t step)
        : PassingExecutable(std::move(inner)), program_(program), step_(step) {}
    void run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override {
      inner().run(segment, input, watcher);
      if (program_.segments[segment].name == "update" && ++done_ == step_) {
        const program::BufferId id = program_.parameters[kParameter];
        std::vector<float> values(program_.buffers[static_cast<std::size_t>(id)].elements);
        download(id, values);
        values[values.size() - 1] += 1;
        upload(id, values);
      }
    }

   private:
    static constexpr std::size_t kParameter = 2;
    const program::Program program_;
    const std::int64_t step_;
    std::int64_t done_ = 0;
  };

  const std::unique_ptr<device::Device> inner_;
  const std::int64_t step_;
};

// A crew whose second device goes wrong after a step.
std::unique_ptr<run::Crew> crew_with_wrong(int devices, std::int64_t step) {
  std::vector<std::string> names;
  for (int d = 0; d < devices; ++d) names.push_back("cpu:" + std::to_string(d));
  auto made = cpu::make_cpu_devices({.names = names, .threads = 1, .bind = false});
  made[1] = std::make_unique<WrongDevice>(std::move(made[1]), step);
  return std::make_unique<run::Crew>(std::move(made), run::Crew::Options{.share_cores = true});
}

// Its linear1.weight is so large that a step compares a part of it.
Job wide_job() {
  Job job = kJob;
  job.model.layers = {{"conv1", model::Conv2d{4, {3, 3}}},
                      {"flatten1", model::Flatten{}},
                      {"linear1", model::Linear{20}},
                      {"linear2", model::Linear{3}}};
  return job;
}

// The steps that are saved up to the end, and what that end says.
struct Ending {
  std::string text;
  std::vector<std::int64_t> saved;
};
Ending ending_of(Fault fault, const Job& job, run::Crew& crew, const TrainOptions& options) {
  Ending ending;
  ending.text = refusal_of(fault, [&] {
    train(job, kData, crew, options,
          {.checkpoint = [&](const TrainState& state) { ending.saved.push_back(state.step); }});
  });
  return ending;
}

// Twelve steps in three epochs: the steps do not get round to the last part.
TEST(Trainer, ReplicasThatPartEndTheTrainingAtTheEndOfTheEpoch) {
  const Ending two = ending_of(Fault::verification, wide_job(), *crew_with_wrong(2, 6), {});
  EXPECT_EQ(
      two.text,
      "step 8: the replicas of linear1.weight differ (they were equal after step 4): cpu:0 and cpu:1 have no "
      "majority; lockstep verify shows who is wrong, go on from the last checkpoint without it");
  EXPECT_EQ(two.saved, (std::vector<std::int64_t>{0, 4}));
  const Ending three = ending_of(Fault::verification, wide_job(), *crew_with_wrong(3, 6), {});
  EXPECT_EQ(
      three.text,
      "step 8: the replicas of linear1.weight differ (they were equal after step 4): cpu:1 is outvoted by "
      "the other 2; go on from the last checkpoint without it");
}

TEST(Trainer, ReplicasThatPartAreNeverSaved) {
  const Ending every =
      ending_of(Fault::verification, wide_job(), *crew_with_wrong(3, 6), {.checkpoint_every = 1});
  EXPECT_THAT(every.text,
              testing::StartsWith("step 6: the replicas of linear1.weight differ (they were equal after "
                                  "step 5): cpu:1 is outvoted"));
  EXPECT_EQ(every.saved, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  int asked = 0;
  const Ending stopped = ending_of(Fault::verification, wide_job(), *crew_with_wrong(3, 6),
                                   {.stop = [&] { return asked++ == 7; }});
  EXPECT_THAT(stopped.text, testing::StartsWith("step 7: the replicas of linear1.weight differ"));
  EXPECT_EQ(stopped.saved, (std::vector<std::int64_t>{0, 4}));
}

// Without checkpoints the weights that are handed back are looked at all the same.
TEST(Trainer, ReplicasThatPartAreNotHandedBack) {
  int asked = 0;
  EXPECT_THAT(
      refusal_of(
          Fault::verification,
          [&] { train(wide_job(), kData, *crew_with_wrong(2, 6), {.stop = [&] { return asked++ == 7; }}); }),
      testing::StartsWith("step 7: the replicas of linear1.weight differ"));
}

// A part of the parameters is compared after every step.
TEST(Trainer, ReplicasThatPartAreFoundInTheMiddleOfAnEpoch) {
  Job job = wide_job();
  job.batch = 1;
  job.learning_rate = 0.001f;  // so small a minibatch diverges with more
  const Ending ending = ending_of(Fault::verification, job, *crew_with_wrong(3, 6), {});
  EXPECT_EQ(
      ending.text,
      "step 63: the replicas of linear1.weight differ (they were equal after step 0): cpu:1 is outvoted by "
      "the other 2; go on from the last checkpoint without it");
  EXPECT_EQ(ending.saved, std::vector<std::int64_t>{0});
}

// Large weights behind conv1 make its gradients so large that its update overflows, while the step is finite.
TEST(Trainer, AnUpdateThatOverflowsIsNamedAndNeverSaved) {
  Job job = kJob;
  job.learning_rate = 1e38f;
  Weights start = initial_weights(job.model, job.seed);
  for (float& weight : start[2]) weight *= 1000;
  const std::string expected =
      "step 1: conv1.weight is not finite after its update; nothing of it was saved, try a smaller --lr";
  for (const int devices : {1, 2}) {
    for (const std::int64_t every : {0, 1}) {
      const Ending ending =
          ending_of(Fault::diverged, job, *make_crew(devices), {.start = start, .checkpoint_every = every});
      EXPECT_EQ(ending.text, expected);
      EXPECT_EQ(ending.saved, std::vector<std::int64_t>{0});
    }
    int asked = 0;
    const Ending stopped = ending_of(Fault::diverged, job, *make_crew(devices),
                                     {.start = start, .stop = [&] { return asked++ == 1; }});
    EXPECT_EQ(stopped.text, expected);
    EXPECT_EQ(stopped.saved, std::vector<std::int64_t>{0});
  }
}

// Adam divides by the root of an infinite second moment, so that the weight itself stays finite.
TEST(Trainer, AStateThatOverflowsIsNamedAndNeverSaved) {
  Job job = job_by(arithmetic::UpdateKind::adam);
  Weights start = initial_weights(job.model, job.seed);
  for (float& weight : start[2]) weight *= 1e25f;
  for (const int devices : {1, 2}) {
    const Ending ending =
        ending_of(Fault::diverged, job, *make_crew(devices), {.start = start, .checkpoint_every = 1});
    EXPECT_EQ(
        ending.text,
        "step 1: conv1.weight.second_moment is not finite after its update; nothing of it was saved, try "
        "a smaller --lr");
    EXPECT_EQ(ending.saved, std::vector<std::int64_t>{0});
  }
}

TEST(Trainer, WeightsThatAreNotFiniteAreNotBegunWith) {
  Weights start = initial_weights(kJob.model, kJob.seed);
  start[1][2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(refusal_of(Fault::diverged, [&] { train(kJob, kData, *make_crew(2), {.start = start}); }),
            "conv1.bias is not finite before the first step; begin with other weights");
}

}  // namespace
}  // namespace lockstep::train
