#include "run/replicas.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "cpu/cpu_device.h"
#include "device/faulty_device.h"
#include "program/compile.h"
#include "run/runner.h"
#include "run/two_layers_for_test.h"

namespace lockstep::run {
namespace {

using Kind = ReplicaFinding::Kind;

TEST(Replicas, PartsCoverEveryNumberOnce) {
  const std::vector<std::size_t> sizes{3, 0, 5, 1000, 1};
  for (const std::size_t parts : {1U, 2U, 7U, 64U, 5000U}) {
    std::vector<std::vector<int>> seen;
    for (const std::size_t size : sizes) seen.emplace_back(size, 0);
    std::size_t most = 0;
    for (std::size_t index = 0; index < parts; ++index) {
      std::size_t count = 0;
      for (const ParameterPart& part : part_of_parameters(sizes, index, parts)) {
        count += part.count;
        for (std::size_t i = 0; i < part.count; ++i) ++seen.at(part.parameter).at(part.first + i);
      }
      most = std::max(most, count);
    }
    for (const std::vector<int>& tensor : seen) EXPECT_EQ(tensor, std::vector<int>(tensor.size(), 1));
    EXPECT_LE(most, 1009 / parts + 1) << parts;
  }
}

TEST(Replicas, TheSmallestParametersAreSmall) {
  const std::vector<std::size_t> sizes{100, 5, 1000, 5, 90};
  using Parameters = std::vector<std::size_t>;
  EXPECT_EQ(small_parameters(sizes, 4), Parameters{});
  EXPECT_EQ(small_parameters(sizes, 9), Parameters{1});
  EXPECT_EQ(small_parameters(sizes, 100), (Parameters{1, 3, 4}));
  EXPECT_EQ(small_parameters(sizes, 1200), (Parameters{0, 1, 2, 3, 4}));
}

TEST(Replicas, TheLargestGroupOfEqualsOutvotesTheRest) {
  const Hash128 a{1, 2}, b{1, 3}, c{4, 2};
  const auto out = [](std::vector<Hash128> hashes) { return outvoted(hashes); };
  using Devices = std::vector<int>;
  EXPECT_EQ(out({a}), Devices{});
  EXPECT_EQ(out({a, a, a}), Devices{});
  EXPECT_EQ(out({a, b, a}), Devices{1});
  EXPECT_EQ(out({b, a, a}), Devices{0});
  EXPECT_EQ(out({a, b, c, b}), (Devices{0, 2}));
  EXPECT_EQ(out({a, b}), (Devices{0, 1})) << "two cannot outvote each other";
  EXPECT_EQ(out({a, a, b, b}), (Devices{0, 1, 2, 3}));
  EXPECT_EQ(out({a, b, c}), (Devices{0, 1, 2}));
}

constexpr int kBatch = 48;

model::Model small_model() {
  return {"small",
          {1, 6, 6},
          {{"conv1", model::Conv2d{3, {3, 3}}},
           {"relu1", model::Relu{}},
           {"flatten1", model::Flatten{}},
           {"linear1", model::Linear{16}},
           {"linear2", model::Linear{4}}},
          0.3};
}

// A runner on CPU devices, and a minibatch whose step leaves the weights as they are unless it has a rate.
struct Trial {
  explicit Trial(int devices, const std::optional<device::Drill>& drill = {})
      : crew(make_devices(devices, drill), {.share_cores = true}),
        runner(crew, data_parallel(program::compile_training(small_model()), plan_for(crew)),
               {.most_examples = kBatch}) {
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 37 % 251);
    for (std::uint32_t i = 0; i < kBatch; ++i) {
      order.push_back(i);
      labels.push_back(static_cast<std::uint8_t>(i % 4));
    }
    runner.upload(weights);
  }

  // The second device goes through the drill.
  static std::vector<std::unique_ptr<device::Device>> make_devices(
      int count, const std::optional<device::Drill>& drill) {
    std::vector<std::string> names;
    for (int d = 0; d < count; ++d) names.push_back("cpu:" + std::to_string(d));
    auto devices = cpu::make_cpu_devices({.names = names, .threads = 1, .bind = false});
    if (drill) devices[1] = device::make_faulty(std::move(devices[1]), *drill, nullptr);
    return devices;
  }

  StepResult step(float rate = 0) { return runner.step({{pixels.data(), labels.data(), order}, {rate}}); }
  void write(int device, std::size_t parameter, std::size_t element, float value) {
    std::vector<float> values = weights[parameter];
    values[element] = value;
    runner.executable(device).upload(runner.program().parameters[parameter], values);
  }

  std::vector<std::uint8_t> pixels = std::vector<std::uint8_t>(kBatch * 36), labels;
  std::vector<std::uint32_t> order;
  Weights weights = weights_by_index(small_model());
  Crew crew;
  Runner runner;
};

constexpr std::size_t kLarge = 2, kElement = 0;  // the first number of linear1.weight is in the first part

// Whatever number differs, the steps find it before the parts come round again.
TEST(Replicas, ANumberThatDiffersAnywhereIsFoundByTheStepsAlone) {
  Trial trial(3);
  std::int64_t step = 0;
  for (std::size_t p = 0; p < trial.weights.size(); ++p) {
    for (std::size_t i = 0; i < trial.weights[p].size(); i += 7) {
      trial.runner.upload(trial.weights);
      trial.runner.continue_after(step);
      trial.write(1, p, i, std::nextafter(trial.weights[p][i], 9.0f));
      StepResult result;
      const std::int64_t begin = step;
      for (std::int64_t n = 0; n < Replicas::kParts && !result.finding; ++n, ++step) result = trial.step();
      ASSERT_TRUE(result.finding) << p << " " << i;
      EXPECT_EQ(result.finding->kind, Kind::parted);
      EXPECT_EQ(result.finding->parameter, p);
      EXPECT_EQ(result.finding->devices, std::vector<int>{1});
      EXPECT_EQ(result.finding->step, step);
      EXPECT_EQ(result.finding->well_after, begin);
      EXPECT_TRUE(p == kLarge || step == begin + 1) << "small parameters are looked at in every step";
    }
  }
}

// Looks of many devices add up, so each of them looks at less.
TEST(Replicas, ManyDevicesTakeLongerToGoRound) {
  Trial trial(8);
  trial.runner.continue_after(2 * Replicas::kParts);
  trial.write(1, kLarge, kElement, 5.0f);
  for (int i = 0; i < 2 * Replicas::kParts - 1; ++i) EXPECT_FALSE(trial.step().finding);
  const std::optional<ReplicaFinding> finding = trial.step().finding;
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->step, 4 * Replicas::kParts);
  EXPECT_EQ(finding->well_after, 2 * Replicas::kParts);
  EXPECT_EQ(finding->devices, std::vector<int>{1});
}

TEST(Replicas, EqualReplicasHaveNoFinding) {
  for (const int devices : {1, 2, 3}) {
    Trial trial(devices);
    for (int i = 0; i < 2 * Replicas::kParts; ++i) EXPECT_FALSE(trial.step(0.01f).finding);
    EXPECT_FALSE(trial.runner.examine_replicas());
  }
}

TEST(Replicas, ALookAtAllFindsADifferenceAtOnceAndSaysHowOldItCanBe) {
  Trial trial(3);
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(trial.step().finding);
  EXPECT_FALSE(trial.runner.examine_replicas());
  trial.write(1, kLarge, kElement, 5.0f);
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(trial.step().finding);
  const std::optional<ReplicaFinding> finding = trial.runner.examine_replicas();
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->kind, Kind::parted);
  EXPECT_EQ(finding->parameter, kLarge);
  EXPECT_EQ(finding->devices, std::vector<int>{1});
  EXPECT_EQ(finding->step, 4);
  EXPECT_EQ(finding->well_after, 2);
}

// The drill's bit is one that the next updates may round away.
TEST(Replicas, AFlippedBitOfABiasIsFoundInItsStep) {
  Trial trial(3, device::Drill{.kind = device::Drill::Kind::flip, .step = 4});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(trial.step(0.1f).finding);
  const std::optional<ReplicaFinding> finding = trial.step(0.1f).finding;
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->parameter, trial.weights.size() - 1);
  EXPECT_EQ(finding->devices, std::vector<int>{1});
  EXPECT_EQ(finding->step, 4);
  EXPECT_EQ(finding->well_after, 3);
}

TEST(Replicas, APartIsKnownToBeWellSinceItsLastTurn) {
  Trial trial(2);
  for (int i = 0; i < Replicas::kParts; ++i) EXPECT_FALSE(trial.step().finding);
  trial.write(1, kLarge, kElement, 5.0f);  // looked at after every 64th step
  StepResult result;
  for (int i = 0; i < Replicas::kParts; ++i) result = trial.step();
  ASSERT_TRUE(result.finding);
  EXPECT_EQ(result.finding->step, 2 * Replicas::kParts);
  EXPECT_EQ(result.finding->well_after, Replicas::kParts);
  EXPECT_EQ(result.finding->devices, (std::vector<int>{0, 1}));
}

TEST(Replicas, AnUpdateThatOverflowsIsFoundAfterAFiniteStep) {
  for (const int devices : {1, 2}) {
    Trial trial(devices);
    for (float& weight : trial.weights[2]) weight *= 1000;  // so that conv1's gradients are large
    trial.runner.upload(trial.weights);
    EXPECT_TRUE(trial.step(1e38f).finite);
    const std::optional<ReplicaFinding> finding = trial.runner.examine_replicas();
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->kind, Kind::not_finite);
    EXPECT_EQ(finding->parameter, 0U);
    EXPECT_EQ(finding->step, 1);
    EXPECT_FALSE(trial.step(1e38f).finite);
    EXPECT_EQ(trial.runner.examine_replicas()->step, 1) << "the second step changed nothing";
  }
}

// One that is not finite while others are has gone wrong; where none is, bits of a NaN do not count.
TEST(Replicas, NotFiniteIsWhatAllAre) {
  Trial trial(3);
  trial.write(2, 1, 1, std::numeric_limits<float>::infinity());
  std::optional<ReplicaFinding> finding = trial.runner.examine_replicas();
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->kind, Kind::parted);
  EXPECT_EQ(finding->devices, std::vector<int>{2});
  for (int device = 0; device < 3; ++device)
    trial.write(device, 1, 1, std::bit_cast<float>(0x7fc00000U + static_cast<std::uint32_t>(device)));
  finding = trial.runner.examine_replicas();
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->kind, Kind::not_finite);
  EXPECT_EQ(finding->parameter, 1U);
}

}  // namespace
}  // namespace lockstep::run
