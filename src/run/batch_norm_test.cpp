// Networks with batch norm: every replica, with its running statistics, has the bits of the naive twin,
// whatever the groups, the devices, their shares and the exchange.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "cpu/cpu_device.h"
#include "program/compile.h"
#include "reference/evaluate.h"
#include "reference/step.h"
#include "run/runner.h"

namespace lockstep::run {
namespace {

namespace exchange = program::exchange;
using model::BatchNorm;

// Both ways of the block end in a batch norm; one batch norm stands on the picture, one on single values.
model::Model residual(int ghost) {
  return {.name = "residual",
          .input = {1, 5, 5},
          .layers = {{"bn0", BatchNorm{}},
                     {"conv1", model::Conv2d{3, {3, 3}, {1, 1}, {1, 1}}},
                     {"bn1", BatchNorm{ghost}},
                     {"relu1", model::Relu{}},
                     {"conv2", model::Conv2d{17, {3, 3}, {1, 1}, {1, 1}}},
                     {"bn2", BatchNorm{ghost}},
                     {"conv3", model::Conv2d{17, {1, 1}}, {"relu1"}},
                     {"bn3", BatchNorm{}},
                     {"add1", model::Add{}, {"bn2", "bn3"}},
                     {"relu2", model::Relu{}},
                     {"pool1", model::AvgPool{{2, 2}, {2, 2}}},
                     {"flatten1", model::Flatten{}},
                     {"linear1", model::Linear{6}},
                     {"bn4", BatchNorm{ghost}},
                     {"relu3", model::Relu{}},
                     {"linear2", model::Linear{4}}},
          .sigma = 0.3};
}

constexpr std::size_t kMost = 100, kPixels = 25;
constexpr std::array<std::size_t, 4> kBatches{100, 50, 2, 75};

struct Examples {
  std::vector<std::uint8_t> pixels, labels;
  std::vector<std::uint32_t> order;
  Examples() {
    for (std::size_t e = 0; e < kMost; ++e) {
      order.push_back(static_cast<std::uint32_t>((e * 7) % kMost));
      labels.push_back(static_cast<std::uint8_t>(e * 5 % 4));
      for (std::size_t p = 0; p < kPixels; ++p)
        pixels.push_back(static_cast<std::uint8_t>((e * 37 + p * p * 11 + e * p) % 251));
    }
  }
  device::StepInput input(std::size_t count) const {
    return {{pixels.data(), labels.data(), std::span(order).first(count)}, {0.1f}};
  }
};
const Examples kSet;

struct TwinBatch {
  std::vector<float> images;
  std::vector<std::uint8_t> labels;
  explicit TwinBatch(std::size_t count) {
    for (const std::uint32_t e : std::span(kSet.order).first(count)) {
      for (std::size_t p = 0; p < kPixels; ++p)
        images.push_back(static_cast<float>(kSet.pixels[e * kPixels + p]) / 255.0f);
      labels.push_back(kSet.labels[e]);
    }
  }
};

Weights twin_after_all_batches(const model::Model& model) {
  Weights weights = reference::initial_parameters(model, 3);
  for (const std::size_t count : kBatches) {
    const TwinBatch batch(count);
    weights = reference::train_step(model, weights, {batch.images, batch.labels}, 0.1f).parameters;
  }
  return weights;
}

struct CrewOfCpus {
  Crew crew;
  CrewOfCpus(int count, int threads) : crew(devices(count, threads), Crew::Options{.share_cores = true}) {}
  static std::vector<std::unique_ptr<device::Device>> devices(int count, int threads) {
    std::vector<std::string> names;
    for (int d = 0; d < count; ++d) names.push_back("cpu:" + std::to_string(d));
    return cpu::make_cpu_devices({.names = names, .threads = threads, .bind = false});
  }
};

void expect_twin(const model::Model& model, const Weights& expected, Crew& crew,
                 const program::DataPlan& plan, device::Order order) {
  Runner runner(crew, data_parallel(program::compile_training(model), plan),
                {.most_examples = static_cast<int>(kMost), .order = order});
  runner.upload(reference::initial_parameters(model, 3));
  for (const std::size_t count : kBatches) {
    const StepResult result = runner.step(kSet.input(count));
    EXPECT_TRUE(result.finite);
    EXPECT_FALSE(result.finding);
  }
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  for (int device = 0; device < crew.size(); ++device) {
    const Weights found = runner.download(device);
    for (std::size_t p = 0; p < parameters.size(); ++p)
      ASSERT_THAT(found[p], SameBits(expected[p])) << parameters[p].name << ", device " << device;
  }
}

TEST(BatchNorm, EveryReplicaEqualsTheNaiveTwin) {
  unsigned turn = 0;
  for (const int ghost : {0, 16, 32, 48}) {
    const model::Model model = residual(ghost);
    const Weights expected = twin_after_all_batches(model);
    for (const auto& [devices, threads] :
         {std::pair{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {3, 1}, {3, 2}, {5, 1}, {9, 1}}) {
      for (const device::Order order : {device::Order::pack, device::Order::layer}) {
        ++turn;
        CrewOfCpus set(devices, threads);
        program::DataPlan plan{
            .ranks = devices, .exchange = &exchange::kinds()[turn % 2], .shard_optimizer = turn % 3 == 0};
        if (turn % 4 == 0) plan.smallest_bucket = 1;
        if (turn % 4 == 1) plan = plan_for(set.crew, std::move(plan));
        SCOPED_TRACE(testing::Message() << "ghost " << ghost << ", " << devices << " devices of " << threads
                                        << " threads, turn " << turn);
        expect_twin(model, expected, set.crew, plan, order);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(BatchNorm, AnySharesGiveTheBitsOfEqualOnes) {
  for (const int ghost : {0, 32}) {
    const model::Model model = residual(ghost);
    const Weights expected = twin_after_all_batches(model);
    for (const std::vector<double>& shares :
         {std::vector{1.0, 1000.0}, {1000.0, 1.0}, {1.0, 5.0, 2.0}, {0.1, 8.0, 0.1, 3.0, 2.0}}) {
      const auto devices = static_cast<int>(shares.size());
      CrewOfCpus set(devices, devices == 3 ? 2 : 1);
      SCOPED_TRACE(testing::Message() << "ghost " << ghost << ", shares " << testing::PrintToString(shares));
      expect_twin(model, expected, set.crew, {.ranks = devices, .shares = shares}, device::Order::pack);
    }
  }
}

// Nothing is fused: a relu reads what the batch norm wrote.
TEST(BatchNorm, FusedOrNotTheBitsAreTheSame) {
  const model::Model model = residual(32);
  const Weights expected = twin_after_all_batches(model);
  CrewOfCpus set(2, 1);
  Runner runner(set.crew,
                data_parallel(program::compile_training(model, {.trim = false, .fuse = false}), {.ranks = 2}),
                {.most_examples = static_cast<int>(kMost)});
  runner.upload(reference::initial_parameters(model, 3));
  for (const std::size_t count : kBatches) runner.step(kSet.input(count));
  EXPECT_THAT(runner.download(1), SameBits(expected));
}

// A step that is not finite leaves the running statistics as they were.
TEST(BatchNorm, ABadStepChangesNoRunningStatistic) {
  const model::Model model = residual(16);
  CrewOfCpus set(2, 1);
  Runner runner(set.crew, data_parallel(program::compile_training(model), {.ranks = 2}),
                {.most_examples = static_cast<int>(kMost)});
  Weights weights = reference::initial_parameters(model, 3);
  weights.back()[0] = std::numeric_limits<float>::infinity();
  runner.upload(weights);
  EXPECT_FALSE(runner.step(kSet.input(75)).finite);
  for (int device = 0; device < 2; ++device) EXPECT_THAT(runner.download(device), SameBits(weights));
}

// An evaluation on the training's own parameters follows them; its further parts use what the first one made.
TEST(BatchNorm, AnEvaluationUsesTheRunningStatisticsOfTheTraining) {
  const model::Model model = residual(16);
  for (const auto& [devices, threads] : {std::pair{1, 1}, {2, 2}, {3, 1}}) {
    CrewOfCpus set(devices, threads);
    Runner training(set.crew, data_parallel(program::compile_training(model), {.ranks = devices}),
                    {.most_examples = static_cast<int>(kMost)});
    Runner evaluation(set.crew, data_parallel(program::compile_evaluation(model), {.ranks = devices}),
                      {.most_examples = static_cast<int>(kMost), .parameters_of = &training});
    Weights weights = reference::initial_parameters(model, 3);
    training.upload(weights);
    for (const std::size_t count : {std::size_t{75}, std::size_t{50}}) {
      const TwinBatch batch(count);
      training.step(kSet.input(count));
      weights = reference::train_step(model, weights, {batch.images, batch.labels}, 0.1f).parameters;
      for (const std::size_t part : {std::size_t{100}, std::size_t{30}}) {
        const TwinBatch seen(part);
        const StepResult result = evaluation.step(
            kSet.input(part), part == 100 ? Runner::Parameters::changed : Runner::Parameters::prepared);
        const reference::Evaluation expected =
            reference::evaluate(model, weights, {seen.images, seen.labels});
        EXPECT_THAT(std::vector{result.loss}, SameBits(std::vector{expected.loss}));
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::run
