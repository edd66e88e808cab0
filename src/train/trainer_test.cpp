#include "train/trainer.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arithmetic/reference/evaluate.h"
#include "arithmetic/reference/step.h"
#include "base/error.h"
#include "base/refusal_for_test.h"
#include "base/same_bits_for_test.h"
#include "base/strange_floats_for_test.h"
#include "data/shuffle.h"
#include "device/cpu/cpu_device.h"
#include "device/faulty_device.h"
#include "device/passing_on.h"

namespace lockstep::train {
namespace {

model::Model small_model() {
  return {"small",
          {1, 6, 6},
          {{"conv1", model::Conv2d{4, {3, 3}}},
           {"relu1", model::Relu{}},
           {"pool1", model::AvgPool{{2, 2}, {2, 2}}},
           {"flatten1", model::Flatten{}},
           {"linear1", model::Linear{3}}},
          0.3};
}

data::Dataset make_set(std::size_t size, unsigned salt) {
  data::Dataset set{1, 6, 6, 3, {}, {}};
  for (std::size_t e = 0; e < size; ++e) {
    const std::size_t label = (e * 7 + salt) % 3;
    set.labels.push_back(static_cast<std::uint8_t>(label));
    for (std::size_t p = 0; p < 36; ++p) {
      set.pixels.push_back(
          static_cast<std::uint8_t>((e * 31 + p * 17 + salt) % 90 + (p / 12 == label ? 120 : 0)));
    }
  }
  return set;
}

const data::Split kData{make_set(100, 1), make_set(50, 2)};
const Job kJob{small_model(), 5, 32, 0.3f, 3};

std::vector<float> images_of(const data::Dataset& set, std::span<const std::uint32_t> examples) {
  std::vector<float> images;
  for (const std::uint32_t e : examples) {
    for (const std::uint8_t pixel : set.example(e)) images.push_back(static_cast<float>(pixel) / 255.0f);
  }
  return images;
}

// Epochs of shuffled minibatches of 32, 32, 32 and 4, in plain loops.
Weights reference_run() {
  std::vector<arithmetic::reference::Tensor> weights =
      arithmetic::reference::initial_parameters(kJob.model, kJob.seed);
  for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
    const std::vector<std::uint32_t> order = data::epoch_order(kJob.seed, epoch, 100);
    for (std::size_t first = 0; first < 100; first += 32) {
      const std::span examples = std::span(order).subspan(first, std::min<std::size_t>(32, 100 - first));
      std::vector<std::uint8_t> labels;
      for (const std::uint32_t e : examples) labels.push_back(kData.train.labels[e]);
      weights = arithmetic::reference::train_step(
                    kJob.model, weights, {images_of(kData.train, examples), labels}, kJob.learning_rate)
                    .parameters;
    }
  }
  return weights;
}

TEST(Trainer, EqualsTheNaiveLoopForEveryThreadCountAndOrder) {
  const std::string expected = to_hex(hash_of(reference_run()));
  for (const int threads : {1, 2, 5}) {
    for (const device::Order order : {device::Order::pack, device::Order::layer}) {
      const auto device = device::cpu::make_cpu_device({.threads = threads});
      EXPECT_EQ(to_hex(hash_of(train(kJob, kData, *device, {.machine = {.order = order}}).weights)), expected)
          << threads;
    }
  }
}

// Sets an environment after every step, as a library might that an observer loads.
struct Setter : Observer {
  explicit Setter(const StrangeFloats& given) : floats(given) {}
  void on_step(const StepReport& report) override {
    losses.push_back(report.loss);
    set_floats(floats);
  }
  void on_epoch(const EpochReport&) override { set_floats(floats); }
  const StrangeFloats floats;
  std::vector<float> losses;
};

TEST(Trainer, FloatingPointEnvironmentsOfTheHostChangeNothing) {
  const StrangeFloats as_it_was{"as it was"};
  const auto device = device::cpu::make_cpu_device({.threads = 2});
  Setter plain(as_it_was);
  const TrainResult expected = train(kJob, kData, *device, {}, {.observers = {&plain}});
  EXPECT_THAT(expected.weights, SameBits(reference_run()));
  for (const StrangeFloats& floats : strange_floats()) {
    SCOPED_TRACE(floats.name);
    Setter from_start(floats), while_training(floats);
    std::vector<TrainResult> results;
    {
      const InStrangeFloats strange(floats);
      const auto own = device::cpu::make_cpu_device({.threads = 2});
      results.push_back(train(kJob, kData, *own, {}, {.observers = {&from_start}}));
      EXPECT_TRUE(strange.unchanged());
    }
    {
      const InStrangeFloats strange(as_it_was);
      results.push_back(train(kJob, kData, *device, {}, {.observers = {&while_training}}));
    }
    EXPECT_THAT(from_start.losses, SameBits(plain.losses));
    EXPECT_THAT(while_training.losses, SameBits(plain.losses));
    for (const TrainResult& result : results) {
      EXPECT_THAT(result.weights, SameBits(expected.weights));
      for (std::size_t i = 0; i < expected.epochs.size(); ++i) {
        EXPECT_THAT(result.epochs.at(i).train_loss, SameBits(expected.epochs[i].train_loss));
        EXPECT_THAT(result.epochs.at(i).test_loss, SameBits(expected.epochs[i].test_loss));
      }
    }
  }
}

TEST(Trainer, EvaluationCountsWhatTheNaiveTwinCounts) {
  const auto device = device::cpu::make_cpu_device({.threads = 2});
  const TrainResult result = train(kJob, kData, *device);
  std::vector<std::uint32_t> all(50);
  for (std::uint32_t i = 0; i < 50; ++i) all[i] = i;
  const auto expected = arithmetic::reference::evaluate(kJob.model, result.weights,
                                                        {images_of(kData.test, all), kData.test.labels});
  EXPECT_EQ(result.epochs.back().test_correct, expected.correct);
  EXPECT_THAT(result.epochs.back().test_loss, SameBits(expected.loss));
  EXPECT_EQ(result.epochs.back().test_examples, 50);
  EXPECT_GT(result.epochs.back().test_correct, 25) << "three clearly marked classes are learnt";
}

// More examples than are looked at in one go: the last part is smaller and counts for less.
TEST(Trainer, EvaluationWeighsItsPartsByTheirExamples) {
  constexpr std::size_t kPart = 2048, kRest = 40;
  const data::Dataset set = make_set(kPart + kRest, 3);
  const Weights weights = initial_weights(kJob.model, 7);
  std::vector<std::uint32_t> all(set.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  const auto twin = [&](std::size_t first, std::size_t count) {
    return arithmetic::reference::evaluate(
        kJob.model, weights,
        {images_of(set, std::span(all).subspan(first, count)), std::span(set.labels).subspan(first, count)});
  };
  const auto whole = twin(0, kPart), rest = twin(kPart, kRest);
  const double loss = (static_cast<double>(whole.loss) * kPart + static_cast<double>(rest.loss) * kRest) /
                      static_cast<double>(kPart + kRest);
  const auto device = device::cpu::make_cpu_device({.threads = 2});
  run::Crew crew({device.get()});
  const Evaluation found = Evaluator(crew, kJob.model, set).evaluate(weights);
  EXPECT_THAT(found.loss, SameBits(static_cast<float>(loss)));
  EXPECT_EQ(found.correct(), whole.correct + rest.correct);
  EXPECT_NE(whole.loss, rest.loss);
}

struct Recorder : Observer {
  int starts = 0, ends = 0;
  std::vector<StepReport> steps;
  std::vector<EpochReport> epochs;
  void on_start(const RunStart&) override { ++starts; }
  void on_step(const StepReport& step) override { steps.push_back(step); }
  void on_epoch(const EpochReport& epoch) override { epochs.push_back(epoch); }
};

TEST(Trainer, TellsItsObserversEveryStepAndEpoch) {
  Recorder recorder;
  const auto device = device::cpu::make_cpu_device({.threads = 1});
  train(kJob, kData, *device, {}, {.observers = {&recorder}});
  EXPECT_EQ(recorder.starts, 1);
  ASSERT_EQ(recorder.steps.size(), 12U);
  EXPECT_EQ(recorder.steps[7].epoch, 2);
  EXPECT_EQ(recorder.steps[7].step, 4);
  EXPECT_EQ(recorder.steps[7].global_step, 8);
  EXPECT_EQ(recorder.steps[7].examples, 4);
  ASSERT_EQ(recorder.epochs.size(), 3U);
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    sum += static_cast<double>(recorder.steps[i].loss) * static_cast<double>(recorder.steps[i].examples);
  }
  EXPECT_DOUBLE_EQ(recorder.epochs[0].train_loss, sum / 100);
}

TEST(Trainer, StopsAtAStepBoundaryAndKeepsTheWeights) {
  int asked = 0;
  const auto device = device::cpu::make_cpu_device({.threads = 1});
  const TrainResult result = train(kJob, kData, *device, {.stop = [&] { return ++asked > 5; }});
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.epochs.size(), 1U);
  Job shorter = kJob;
  shorter.epochs = 1;
  const TrainResult one = train(shorter, kData, *device);
  EXPECT_NE(hash_of(result.weights), hash_of(one.weights)) << "one step of the second epoch is in it";
}

TEST(Trainer, ADivergingRunNamesStepLayerAndExample) {
  Job job = kJob;
  job.learning_rate = 1e30f;
  const auto device = device::cpu::make_cpu_device({.threads = 2});
  try {
    train(job, kData, *device);
    FAIL() << "it stayed finite";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::diverged);
    EXPECT_THAT(std::string(error.what()),
                testing::MatchesRegex("step [0-9]+: the (output of|gradient behind|loss).* is not finite.*"));
  }
}

// Has no memory for another program beside the training and its evaluation.
class FullDevice final : public device::PassingDevice {
 public:
  explicit FullDevice(device::Device& inner) : PassingDevice(inner) {}
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    if (++loaded_ > 2) throw Error(Fault::device, "no memory");
    return PassingDevice::load(program, options);
  }

 private:
  int loaded_ = 0;
};

TEST(Trainer, ADivergingRunIsOneAlsoWhereNobodyCanLook) {
  Job job = kJob;
  job.learning_rate = 1e30f;
  const auto inner = device::cpu::make_cpu_device({.threads = 1});
  FullDevice device(*inner);
  EXPECT_THAT(refusal_of(Fault::diverged, [&] { train(job, kData, device); }),
              testing::MatchesRegex("step [0-9]+: the loss or a gradient is not finite \\(where it begins is "
                                    "not known: .*no memory\\); nothing of this step was kept.*"));
}

// A crew of CPU devices for tests: they share whatever cores there are.
std::unique_ptr<run::Crew> make_crew(int devices, int threads = 1) {
  std::vector<std::string> names;
  for (int d = 0; d < devices; ++d) names.push_back("cpu:" + std::to_string(d));
  return std::make_unique<run::Crew>(
      device::cpu::make_cpu_devices({.names = names, .threads = threads, .bind = false}),
      run::Crew::Options{.share_cores = true});
}

TEST(Trainer, AnyNumberOfDevicesGivesTheSameRun) {
  const std::string expected = to_hex(hash_of(reference_run()));
  const TrainResult alone = train(kJob, kData, *make_crew(1));
  for (const int devices : {2, 3, 8}) {
    const TrainResult result = train(kJob, kData, *make_crew(devices));
    EXPECT_EQ(to_hex(hash_of(result.weights)), expected) << devices;
    for (std::size_t e = 0; e < result.epochs.size(); ++e) {
      EXPECT_EQ(result.epochs[e].test_correct, alone.epochs[e].test_correct);
      EXPECT_THAT(result.epochs[e].test_loss, SameBits(alone.epochs[e].test_loss));
      EXPECT_THAT(result.epochs[e].train_loss, SameBits(alone.epochs[e].train_loss));
    }
  }
}

TEST(Trainer, SharesChangeWhoComputesAndNothingElse) {
  const TrainResult even = train(kJob, kData, *make_crew(2));
  const TrainResult uneven = train(kJob, kData, *make_crew(2), {.machine = {.shares = {1, 3}}});
  EXPECT_EQ(hash_of(uneven.weights), hash_of(even.weights));
  EXPECT_EQ(uneven.epochs.back().test_correct, even.epochs.back().test_correct);
  // Minibatches of 2, 2, 2 and 1 packs, three times.
  ASSERT_EQ(even.use.size(), 2U);
  EXPECT_EQ(even.use[0].packs, 12);
  EXPECT_EQ(even.use[1].packs, 9);
  EXPECT_EQ(uneven.use[0].packs + uneven.use[1].packs, 21);
  EXPECT_GT(uneven.use[1].packs, uneven.use[0].packs);
  EXPECT_GT(even.use[0].times.compute, 0);
}

TEST(Trainer, StoppedAtAnyStepItGoesOnWithTheSameBitsOnOtherDevices) {
  Job job = kJob;
  job.momentum = 0.9f;
  const TrainResult whole = train(job, kData, *make_crew(1));
  for (int steps = 0; steps <= 12; ++steps) {
    int asked = 0;
    TrainState saved;
    const TrainResult first = train(job, kData, *make_crew(2), {.stop = [&] { return asked++ == steps; }},
                                    {.checkpoint = [&](const TrainState& state) { saved = state; }});
    EXPECT_EQ(first.interrupted, steps < 12);
    EXPECT_EQ(saved.step, steps);
    const TrainResult second =
        train(job, kData, *make_crew(3),
              {.machine = {.exchange = &program::exchange::kind_named("star"), .shard_optimizer = true},
               .resume = saved});
    EXPECT_EQ(to_hex(hash_of(second.weights)), to_hex(hash_of(whole.weights))) << steps;
    ASSERT_EQ(second.epochs.size(), whole.epochs.size()) << steps;
    for (std::size_t e = 0; e < whole.epochs.size(); ++e) {
      EXPECT_THAT(second.epochs[e].train_loss, SameBits(whole.epochs[e].train_loss)) << steps;
      EXPECT_THAT(second.epochs[e].test_loss, SameBits(whole.epochs[e].test_loss)) << steps;
    }
  }
}

TEST(Trainer, CheckpointsStandAtTheStartEveryFewStepsAndAtTheEnd) {
  const auto steps_saved = [&](std::int64_t every) {
    std::vector<std::int64_t> steps;
    train(kJob, kData, *make_crew(1), {.checkpoint_every = every},
          {.checkpoint = [&](const TrainState& state) { steps.push_back(state.step); }});
    return steps;
  };
  EXPECT_EQ(steps_saved(0), (std::vector<std::int64_t>{0, 4, 8, 12}));
  EXPECT_EQ(steps_saved(5), (std::vector<std::int64_t>{0, 5, 10, 12}));
  EXPECT_EQ(steps_saved(4), (std::vector<std::int64_t>{0, 4, 8, 12}));
}

TEST(Trainer, RecordsAHashOfEveryParameterAfterEveryStep) {
  Recorder recorder;
  const TrainResult result =
      train(kJob, kData, *make_crew(2), {.machine = {.record = true}}, {.observers = {&recorder}});
  for (std::size_t i = 0; i < result.weights.size(); ++i)
    EXPECT_EQ(recorder.steps.back().hashes[i], hash128(std::as_bytes(std::span(result.weights[i]))));
  EXPECT_NE(recorder.steps[0].hashes, recorder.steps[1].hashes);
  EXPECT_EQ(recorder.steps[0].devices.size(), 2U);
}

// Parameter i is hashed by device i mod k, so a replica that goes wrong shows in its own columns.
TEST(Trainer, TheRecordIsOfTheReplicaThatHashes) {
  const auto hashes_with_flip_on = [](const std::string& name) {
    auto devices = device::cpu::make_cpu_devices({.names = {"cpu:0", "cpu:1"}, .threads = 1, .bind = false});
    for (auto& device : devices) {
      if (device->name() == name)
        device =
            device::make_faulty(std::move(device), {.kind = device::Drill::Kind::flip, .step = 12}, nullptr);
    }
    run::Crew crew(std::move(devices), {.share_cores = true});
    Recorder recorder;
    try {
      train(kJob, kData, crew, {.machine = {.record = true}}, {.observers = {&recorder}});
    } catch (const Error& error) {  // after the step was told
      EXPECT_EQ(error.fault(), Fault::verification);
    }
    EXPECT_EQ(recorder.steps.size(), 12U);
    return recorder.steps.back().hashes;
  };
  const std::vector<Hash128> healthy = hashes_with_flip_on("none");
  EXPECT_EQ(hashes_with_flip_on("cpu:0"), healthy) << "linear1.bias is the other device's to hash";
  std::vector<Hash128> flipped = hashes_with_flip_on("cpu:1");
  EXPECT_NE(flipped[3], healthy[3]);
  flipped[3] = healthy[3];
  EXPECT_EQ(flipped, healthy);
}

// After a step, one number of the middle parameter is wrong, and no rounding of later steps mends it.
class WrongDevice final : public device::PassingDevice {
 public:
  WrongDevice(std::unique_ptr<device::Device> inner, std::int64_t step)
      : PassingDevice(*inner), inner_(std::move(inner)), step_(step) {}
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    std::unique_ptr<device::Executable> executable = inner_->load(program, options);
    if (program.gradients.empty()) return executable;
    return std::make_unique<Executable>(std::move(executable), program, step_);
  }

 private:
  class Executable final : public device::PassingExecutable {
   public:
    Executable(std::unique_ptr<device::Executable> inner, const program::Program& program, std::int64_t step)
        : PassingExecutable(std::move(inner)), program_(program), step_(step) {}
    bool run(std::size_t segment, const device::StepInput& input, device::Watcher& watcher) override {
      const bool finite = inner().run(segment, input, watcher);
      if (segment + 1 == program_.segments.size() && ++done_ == step_) {
        const program::BufferId id = program_.parameters[kParameter];
        std::vector<float> values(program_.buffers[static_cast<std::size_t>(id)].elements);
        download(id, values);
        values[values.size() - 1] += 1;
        upload(id, values);
      }
      return finite;
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
  auto made = device::cpu::make_cpu_devices({.names = names, .threads = 1, .bind = false});
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

TEST(Trainer, WeightsThatAreNotFiniteAreNotBegunWith) {
  Weights start = initial_weights(kJob.model, kJob.seed);
  start[1][2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(refusal_of(Fault::diverged, [&] { train(kJob, kData, *make_crew(2), {.start = start}); }),
            "conv1.bias is not finite before the first step; begin with other weights");
}

TEST(Trainer, TracesComputeExchangeAndWaitOfEveryDevice) {
  const TrainResult result = train(kJob, kData, *make_crew(2), {.machine = {.trace = true}});
  ASSERT_EQ(result.traces.size(), 2U);
  for (const run::DeviceTrace& trace : result.traces) {
    int compute = 0, exchange = 0;
    for (const run::TraceSpan& span : trace.spans) {
      EXPECT_LE(span.start, span.end);
      compute += span.lane == run::TraceSpan::Lane::compute ? 1 : 0;
      exchange += span.lane == run::TraceSpan::Lane::exchange ? 1 : 0;
    }
    EXPECT_EQ(compute, 12 * 4) << "prepare, packs, check and update of 12 steps";
    EXPECT_GE(exchange, 12);
  }
}

TEST(Trainer, RefusesDataThatDoesNotFitTheModel) {
  const auto device = device::cpu::make_cpu_device({.threads = 1});
  Job job = kJob;
  job.model.input = {1, 8, 8};
  EXPECT_THROW(train(job, kData, *device), Error);
}

}  // namespace
}  // namespace lockstep::train
