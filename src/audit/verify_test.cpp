#include "audit/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audit/diff.h"
#include "base/error.h"
#include "cpu/cpu_device.h"
#include "device/faulty_device.h"
#include "device/passing_on.h"

namespace lockstep::audit {
namespace {

model::Model small_model() {
  return {"small",
          {1, 6, 6},
          {{"conv1", model::Conv2d{4, {3, 3}}},
           {"relu1", model::Relu{}},
           {"flatten1", model::Flatten{}},
           {"linear1", model::Linear{3}}},
          0.3};
}

data::Dataset make_set() {
  data::Dataset set{1, 6, 6, 3, {}, {}};
  for (std::size_t e = 0; e < 100; ++e) {
    set.labels.push_back(static_cast<std::uint8_t>(e % 3));
    for (std::size_t p = 0; p < 36; ++p)
      set.pixels.push_back(static_cast<std::uint8_t>((e * 31 + p * 17) % 251));
  }
  return set;
}

const data::Dataset kSet = make_set();
const train::Job kJob{small_model(), 5, 48, 0.3f, 3, arithmetic::sgd_with_momentum(0.5f)};

// Devices of which one may go wrong.
MakeCrew crews(std::optional<device::Drill> drill = {}, const std::string& where = "cpu:2") {
  return [=](const std::vector<std::string>& names, int threads) {
    auto devices = cpu::make_cpu_devices({.names = names, .threads = threads, .bind = false});
    for (auto& device : devices) {
      if (drill && device->name() == where) device = device::make_faulty(std::move(device), *drill, [] {});
    }
    return std::make_unique<run::Crew>(std::move(devices), run::Crew::Options{.share_cores = true});
  };
}

std::vector<Setting> settings() {
  return {{{"cpu:0"}, 1, {}},
          {{"cpu:0", "cpu:1"}, 2, {}},
          {{"cpu:0", "cpu:1", "cpu:2"}, 1, {.order = device::Order::layer}}};
}

TEST(Verify, AllSettingsAreEqualAfterEveryStep) {
  const std::vector<SettingResult> results =
      verify({.job = kJob, .data = kSet, .settings = settings(), .steps = 7, .make_crew = crews()});
  ASSERT_EQ(results.size(), 3U);
  for (const SettingResult& result : results) {
    EXPECT_FALSE(result.difference);
    EXPECT_EQ(result.hashes, results[0].hashes);
    EXPECT_EQ(result.hashes.size(), 7U);
    EXPECT_EQ(result.weights, results[0].weights);
  }
}

TEST(Verify, RunningStatisticsAreComparedToo) {
  train::Job job = kJob;
  job.model.layers.insert(job.model.layers.begin() + 1, {"bn1", model::BatchNorm{16}});
  std::vector<SettingResult> results =
      verify({.job = job, .data = kSet, .settings = settings(), .steps = 7, .make_crew = crews()});
  for (const SettingResult& result : results) {
    EXPECT_FALSE(result.difference);
    EXPECT_EQ(result.hashes, results[0].hashes);
    EXPECT_EQ(result.hashes.back().size(), 8U) << "tensors, two of which are running statistics";
  }
}

TEST(Verify, OneFlippedBitInReplicaTwoIsFoundAndNamed) {
  const std::vector<SettingResult> results =
      verify({.job = kJob,
              .data = kSet,
              .settings = settings(),
              .steps = 7,
              .make_crew = crews(device::Drill{.kind = device::Drill::Kind::flip, .step = 4})});
  EXPECT_FALSE(results[1].difference) << "two devices have no cpu:2";
  ASSERT_TRUE(results[2].difference);
  const ReplicaDifference& difference = *results[2].difference;
  EXPECT_EQ(difference.step, 4);
  EXPECT_EQ(difference.device, 2);
  EXPECT_EQ(difference.device_name, "cpu:2");
  EXPECT_EQ(difference.element.tensor, "linear1.bias");
  EXPECT_EQ(difference.element.index, 0U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(difference.element.expected) ^
                std::bit_cast<std::uint32_t>(difference.element.found),
            1U);
}

TEST(Verify, TheFirstSettingIsHeldAgainstItselfToo) {
  const std::vector<SettingResult> results =
      verify({.job = kJob,
              .data = kSet,
              .settings = {settings()[2], settings()[0]},
              .steps = 5,
              .make_crew = crews(device::Drill{.kind = device::Drill::Kind::flip, .step = 2})});
  ASSERT_TRUE(results[0].difference);
  EXPECT_EQ(results[0].difference->step, 2);
  EXPECT_FALSE(results[1].difference) << "up to there the first device of the first setting is right";
  EXPECT_EQ(results[1].hashes.size(), 2U);
  EXPECT_NE(results[0].weights, results[1].weights);
}

// A device on which the last velocity that it holds goes wrong after a step.
class WrongVelocity final : public device::PassingDevice {
 public:
  WrongVelocity(std::unique_ptr<device::Device> inner, int step)
      : PassingDevice(*inner), inner_(std::move(inner)), step_(step) {}
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    return std::make_unique<Executable>(inner_->load(program, options), program, step_);
  }

 private:
  class Executable final : public device::PassingExecutable {
   public:
    Executable(std::unique_ptr<device::Executable> inner, const program::Program& program, int step)
        : PassingExecutable(std::move(inner)), program_(program), steps_left_(step) {}
    void run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override {
      inner().run(segment, input, watcher);
      if (program_.segments[segment].name != "update" || --steps_left_ != 0) return;
      for (auto part = program_.state.rbegin(); part != program_.state.rend(); ++part) {
        std::vector<float> numbers(program_.buffers[static_cast<std::size_t>(part->buffer)].elements);
        if (numbers.empty()) continue;
        download(part->buffer, numbers);
        numbers.back() += 1;
        return upload(part->buffer, numbers);
      }
    }

   private:
    const program::Program program_;
    int steps_left_;
  };

  const std::unique_ptr<device::Device> inner_;
  const int step_;
};

// The parameters of the last step do not show it: the velocity is used in the next one.
TEST(Verify, AWrongVelocityOfTheLastStepIsFoundAtItsOwner) {
  const MakeCrew with_wrong = [](const std::vector<std::string>& names, int threads) {
    auto devices = cpu::make_cpu_devices({.names = names, .threads = threads, .bind = false});
    if (devices.size() == 3) devices[1] = std::make_unique<WrongVelocity>(std::move(devices[1]), 4);
    return std::make_unique<run::Crew>(std::move(devices), run::Crew::Options{.share_cores = true});
  };
  const std::vector<SettingResult> results =
      verify({.job = kJob,
              .data = kSet,
              .settings = {settings()[0], {{"cpu:0", "cpu:1", "cpu:2"}, 1, {.shard_optimizer = true}}},
              .steps = 4,
              .make_crew = with_wrong});
  EXPECT_EQ(results[1].hashes, results[0].hashes);
  ASSERT_TRUE(results[1].difference);
  const ReplicaDifference& difference = *results[1].difference;
  EXPECT_EQ(difference.step, 4);
  EXPECT_EQ(difference.device_name, "cpu:1");
  EXPECT_THAT(difference.element.tensor, testing::EndsWith(".velocity"));
  EXPECT_EQ(difference.element.found, difference.element.expected + 1);
}

TEST(Element, BitsCountNotValues) {
  const model::Model model = small_model();
  run::Weights a = train::initial_weights(model, 1), b = a;
  const std::vector<model::StateTensor> tensors = model::state_tensors(model, arithmetic::UpdateKind::sgd);
  EXPECT_FALSE(first_difference(tensors, a, b));
  a[0][7] = 0.0f;
  b[0][7] = -0.0f;
  const std::optional<ElementDifference> found = first_difference(tensors, a, b);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at, (std::vector<std::int64_t>{0, 0, 2, 1}));
  EXPECT_EQ(to_text(*found),
            "layer conv1, tensor conv1.weight, element [0, 0, 2, 1]: 0x80000000 (-0) where 0x00000000 (0) is "
            "expected");
}

// A run as it would be recorded, with hashes of every step.
RecordedRun recorded(const train::Job& job, std::int64_t steps, std::optional<device::Drill> drill = {}) {
  RecordedRun run{.name = "run",
                  .job = job,
                  .start = train::initial_weights(job.model, job.seed),
                  .states = {},
                  .record = {}};
  for (const model::Parameter& p : model::parameters_of(job.model)) run.record.tensors.push_back(p.name);
  const auto crew = crews(drill, "cpu:0")({"cpu:0"}, 1);
  train::Stepper stepper(*crew, job, {.record = true}, kSet);
  stepper.start();
  while (stepper.steps() < steps) {
    run.record.rows.push_back(stepper.step().hashes);
    run.record.steps.push_back(stepper.steps());
  }
  return run;
}

const auto kOneDevice = [] { return crews()({"cpu:0"}, 1); };

TEST(Diff, EqualRunsAreEqual) {
  const DiffResult result = diff(recorded(kJob, 6), recorded(kJob, 4), kSet, kOneDevice);
  EXPECT_FALSE(result.parting);
  EXPECT_EQ(result.steps, 4);
}

TEST(Diff, AHoleInARecordIsCountedAndPassedOver) {
  const RecordedRun whole = recorded(kJob, 6);
  RecordedRun hole = recorded(kJob, 6, device::Drill{.kind = device::Drill::Kind::flip, .step = 5});
  hole.record.steps.erase(hole.record.steps.begin() + 1, hole.record.steps.begin() + 3);
  hole.record.rows.erase(hole.record.rows.begin() + 1, hole.record.rows.begin() + 3);
  const DiffResult result = diff(whole, hole, kSet, kOneDevice);
  EXPECT_EQ(result.steps, 4);
  EXPECT_EQ(result.not_compared, 2);
  ASSERT_TRUE(result.parting);
  EXPECT_EQ(result.parting->step, 5);
  ASSERT_EQ(result.unreproduced.size(), 1U) << "a replay compares rows by their steps";
  EXPECT_EQ(result.unreproduced[0].at.step, 5);
}

TEST(Diff, RunsOfDifferentJobsPartAtTheirFirstDifferentStep) {
  train::Job other = kJob;
  other.learning_rate = 0.25f;
  const RecordedRun a = recorded(kJob, 3), b = recorded(other, 3);
  const DiffResult result = diff(a, b, kSet, kOneDevice);
  ASSERT_TRUE(result.parting);
  EXPECT_EQ(result.parting->step, 1);
  EXPECT_TRUE(result.unreproduced.empty());
  ASSERT_TRUE(result.element);
  EXPECT_NE(result.element->expected, result.element->found);
}

TEST(Diff, ARunThatDoesNotReproduceItsOwnRecordIsNamed) {
  RecordedRun good = recorded(kJob, 6);
  RecordedRun bad = recorded(kJob, 6, device::Drill{.kind = device::Drill::Kind::flip, .step = 3});
  good.name = "good";
  bad.name = "bad";
  const DiffResult result = diff(good, bad, kSet, kOneDevice);
  ASSERT_TRUE(result.parting);
  EXPECT_EQ(result.parting->step, 3);
  ASSERT_EQ(result.unreproduced.size(), 1U);
  EXPECT_EQ(result.unreproduced[0].run, "bad");
  EXPECT_EQ(result.unreproduced[0].at.step, 3);
}

TEST(Diff, ReplaysFromTheNearestCheckpoint) {
  train::Job other = kJob;
  other.learning_rate = 0.25f;
  RecordedRun a = recorded(kJob, 5), b = recorded(other, 5);
  b.record.rows[0] = a.record.rows[0];  // as if the runs had parted later
  b.record.rows[1] = a.record.rows[1];
  // A state that never was: a replay that begins there cannot give what was recorded.
  a.states.push_back(
      {.tensors = run::initial_state(kJob.model, kJob.rule(), train::initial_weights(kJob.model, 99)),
       .step = 2});
  const DiffResult result = diff(a, b, kSet, kOneDevice);
  ASSERT_EQ(result.parting->step, 3);
  ASSERT_EQ(result.unreproduced.size(), 2U);
  EXPECT_EQ(result.unreproduced[0].at.step, 3) << "began at step 2";
  EXPECT_EQ(result.unreproduced[1].at.step, 1) << "began at the start";
}

TEST(Diff, AReplayTakesUpAllOfACheckpointsState) {
  RecordedRun good = recorded(kJob, 6);
  const RecordedRun bad = recorded(kJob, 6, device::Drill{.kind = device::Drill::Kind::flip, .step = 5});
  const auto crew = kOneDevice();
  train::Stepper stepper(*crew, kJob, {}, kSet);
  stepper.start();
  while (stepper.steps() < 3) stepper.step();
  good.states.push_back({.tensors = stepper.runner().state(), .step = 3});
  const DiffResult result = diff(good, bad, kSet, kOneDevice);
  ASSERT_TRUE(result.parting);
  EXPECT_EQ(result.parting->step, 5);
  ASSERT_EQ(result.unreproduced.size(), 1U) << "the good run's replay from step 3 gives its record";
  EXPECT_EQ(result.unreproduced[0].at.step, 5);
}

}  // namespace
}  // namespace lockstep::audit
