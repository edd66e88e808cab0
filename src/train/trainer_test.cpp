#include "train/trainer.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/refusal_for_test.h"
#include "base/same_bits_for_test.h"
#include "base/strange_floats_for_test.h"
#include "cpu/cpu_device.h"
#include "data/shuffle.h"
#include "device/faulty_device.h"
#include "device/passing_on.h"
#include "reference/evaluate.h"
#include "reference/step.h"
#include "train/trainer_job_for_test.h"

namespace lockstep::train {
namespace {

std::vector<float> images_of(const data::Dataset& set, std::span<const std::uint32_t> examples) {
  std::vector<float> images;
  for (const std::uint32_t e : examples) {
    for (const std::uint8_t pixel : set.example(e)) images.push_back(static_cast<float>(pixel) / 255.0f);
  }
  return images;
}

// Epochs of shuffled minibatches of 32, 32, 32 and 4, in plain loops.
Weights reference_run() {
  std::vector<reference::Tensor> weights = reference::initial_parameters(kJob.model, kJob.seed);
  for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
    const std::vector<std::uint32_t> order = data::epoch_order(kJob.seed, epoch, 100);
    for (std::size_t first = 0; first < 100; first += 32) {
      const std::span examples = std::span(order).subspan(first, std::min<std::size_t>(32, 100 - first));
      std::vector<std::uint8_t> labels;
      for (const std::uint32_t e : examples) labels.push_back(kData.train.labels[e]);
      weights = reference::train_step(kJob.model, weights, {images_of(kData.train, examples), labels},
                                      kJob.learning_rate)
                    .parameters;
    }
  }
  return weights;
}

TEST(Trainer, EqualsTheNaiveLoopForEveryThreadCountAndOrder) {
  const std::string expected = to_hex(hash_of(reference_run()));
  for (const int threads : {1, 2, 5}) {
    for (const device::Order order : {device::Order::pack, device::Order::layer}) {
      const auto device = cpu::make_cpu_device({.threads = threads});
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
  const auto device = cpu::make_cpu_device({.threads = 2});
  Setter plain(as_it_was);
  const TrainResult expected = train(kJob, kData, *device, {}, {.observers = {&plain}});
  EXPECT_THAT(expected.weights, SameBits(reference_run()));
  for (const StrangeFloats& floats : strange_floats()) {
    SCOPED_TRACE(floats.name);
    Setter from_start(floats), while_training(floats);
    std::vector<TrainResult> results;
    {
      const InStrangeFloats strange(floats);
      const auto own = cpu::make_cpu_device({.threads = 2});
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

// A batch norm's momentum and eps and the factors of dropout are rounded when the program is compiled.
TEST(Trainer, FloatingPointEnvironmentsOfTheHostChangeNoNumberOfTheModel) {
  Job job = job_by(arithmetic::UpdateKind::adam);
  job.model.layers = {
      {"conv1", model::Conv2d{4, {3, 3}}}, {"norm1", model::BatchNorm{}},  {"relu1", model::Relu{}},
      {"drop1", model::Dropout{0.3}},      {"flatten1", model::Flatten{}}, {"linear1", model::Linear{3}}};
  const auto device = cpu::make_cpu_device({.threads = 1});
  const Weights expected = train(job, kData, *device).weights;
  for (const StrangeFloats& floats : strange_floats()) {
    const InStrangeFloats strange(floats);
    EXPECT_THAT(train(job, kData, *device).weights, SameBits(expected)) << floats.name;
    EXPECT_TRUE(strange.unchanged());
  }
}

TEST(Trainer, EvaluationCountsWhatTheNaiveTwinCounts) {
  const auto device = cpu::make_cpu_device({.threads = 2});
  const TrainResult result = train(kJob, kData, *device);
  std::vector<std::uint32_t> all(50);
  for (std::uint32_t i = 0; i < 50; ++i) all[i] = i;
  const auto expected =
      reference::evaluate(kJob.model, result.weights, {images_of(kData.test, all), kData.test.labels});
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
    return reference::evaluate(
        kJob.model, weights,
        {images_of(set, std::span(all).subspan(first, count)), std::span(set.labels).subspan(first, count)});
  };
  const auto whole = twin(0, kPart), rest = twin(kPart, kRest);
  const double loss = (static_cast<double>(whole.loss) * kPart + static_cast<double>(rest.loss) * kRest) /
                      static_cast<double>(kPart + kRest);
  const auto device = cpu::make_cpu_device({.threads = 2});
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
  const auto device = cpu::make_cpu_device({.threads = 1});
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
  const auto device = cpu::make_cpu_device({.threads = 1});
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
  const auto device = cpu::make_cpu_device({.threads = 2});
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

TEST(Trainer, ADivergingRunIsOneAlsoWhereNoLookIsPossible) {
  Job job = kJob;
  job.learning_rate = 1e30f;
  const auto inner = cpu::make_cpu_device({.threads = 1});
  FullDevice device(*inner);
  EXPECT_THAT(refusal_of(Fault::diverged, [&] { train(job, kData, device); }),
              testing::MatchesRegex("step [0-9]+: the loss or a gradient is not finite \\(where it begins is "
                                    "not known: .*no memory\\); nothing of this step was kept.*"));
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
  job.optimizer = arithmetic::sgd_with_momentum(0.9f);
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
    auto devices = cpu::make_cpu_devices({.names = {"cpu:0", "cpu:1"}, .threads = 1, .bind = false});
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
    EXPECT_EQ(compute, 12 * 5 + 3)
        << "prepare, packs, check, update and look of 12 steps, and a look after each epoch";
    EXPECT_GE(exchange, 12);
  }
}

TEST(Trainer, RefusesDataThatDoesNotFitTheModel) {
  const auto device = cpu::make_cpu_device({.threads = 1});
  Job job = kJob;
  job.model.input = {1, 8, 8};
  EXPECT_THROW(train(job, kData, *device), Error);
}

}  // namespace
}  // namespace lockstep::train
