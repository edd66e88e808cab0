// GPU devices among themselves and beside CPU devices: the bits of one CPU device, for every exchange. OpenCL
// devices are those of this machine; CUDA's are stand-ins that interpret their kernels' PTX.
#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "arithmetic/step_scalars.h"
#include "base/same_bits_for_test.h"
#include "device/kernels_for_test.h"
#include "gpu/cuda/standin_for_test.h"
#include "inventory/inventory.h"
#include "model/zoo.h"
#include "program/compile.h"
#include "reference/step.h"
#include "run/runner.h"
#include "run/state_for_test.h"

namespace lockstep::run {
namespace {

namespace exchange = program::exchange;
using arithmetic::UpdateKind;

struct Examples {
  std::vector<std::uint8_t> pixels, labels;
  std::vector<std::uint32_t> order;
  Examples(std::size_t count, std::size_t pixels_of_one) {
    for (std::size_t e = 0; e < count; ++e) {
      order.push_back(static_cast<std::uint32_t>((e * 7) % count));
      labels.push_back(static_cast<std::uint8_t>(e * 5 % 10));
      for (std::size_t p = 0; p < pixels_of_one; ++p)
        pixels.push_back(static_cast<std::uint8_t>((e * 37 + p * p * 11) % 251));
    }
  }
  device::StepInput input(std::size_t count) const {
    return {{pixels.data(), labels.data(), std::span(order).first(count)}, {0.1f, 0.9f}};
  }
};

struct Job {
  model::Model model;
  std::vector<std::size_t> batches;
};

struct Setting {
  std::vector<std::string> devices;
  const exchange::Kind* kind = &exchange::kinds().front();
  UpdateKind rule = UpdateKind::sgd;
  bool shard_optimizer = false;
};

using Devices = std::vector<std::vector<std::string>>;

struct Outcome {
  Weights weights, state;
  std::vector<float> losses;
  std::vector<std::vector<std::int64_t>> right;
};

// With decay, so that weights and biases are updated apart.
arithmetic::UpdateScalars scalars_of(UpdateKind rule) {
  const arithmetic::Optimizer optimizer{.kind = rule, .momentum = 0.9f, .weight_decay = 0.01};
  return arithmetic::StepScalars(optimizer, {}, 0.1f, {1, 1}).at(1);
}

Outcome train(inventory::Inventory& inventory, const Job& job, const Setting& setting) {
  const model::Model& model = job.model;
  inventory::MadeDevices made = inventory.make(setting.devices, {.threads = 1, .bind = false});
  Crew crew(std::move(made.devices), {.share_cores = made.share_cores});
  const auto count = static_cast<int>(setting.devices.size());
  Runner runner(
      crew,
      data_parallel(program::compile_training(model, {.rule = setting.rule}),
                    plan_for(crew, {.exchange = setting.kind, .shard_optimizer = setting.shard_optimizer})),
      {.most_examples = static_cast<int>(job.batches[0])});
  runner.upload(reference::initial_parameters(model, 3));
  const Examples examples(300, static_cast<std::size_t>(model.input.elements()));
  Outcome outcome;
  for (const std::size_t batch : job.batches) {
    device::StepInput input = examples.input(batch);
    input.update = scalars_of(setting.rule);
    const StepResult result = runner.step(input);
    EXPECT_TRUE(result.finite);
    outcome.losses.push_back(result.loss);
    outcome.right.push_back(result.right);
  }
  outcome.weights = runner.download();
  outcome.state = numbers_of(runner.state());
  for (int device = 1; device < count; ++device)
    EXPECT_THAT(runner.download(device), SameBits(outcome.weights));
  return outcome;
}

std::vector<std::string> several(const std::string& kind, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("{}:{}", kind, i));
  return names;
}

// One rule without a state and one with two meet every setting; the others, whose kernels have tests of their
// own, the first.
void expect_same_bits(inventory::Inventory& inventory, const Job& job,
                      std::span<const std::vector<std::string>> settings) {
  for (const arithmetic::UpdateRule& rule : arithmetic::kUpdateRules) {
    const bool everywhere = rule.kind == UpdateKind::sgd || rule.kind == UpdateKind::adamw;
    const Outcome expected = train(inventory, job, {.devices = {"cpu:0"}, .rule = rule.kind});
    for (const std::vector<std::string>& devices : settings.first(everywhere ? settings.size() : 1)) {
      for (const exchange::Kind& kind : exchange::kinds()) {
        for (const bool shard : {false, true}) {
          SCOPED_TRACE(
              fmt::format("{}, {}, {}, sharded {}", fmt::join(devices, "+"), kind.name, rule.name, shard));
          const Outcome found = train(inventory, job, {devices, &kind, rule.kind, shard});
          EXPECT_THAT(found.weights, SameBits(expected.weights));
          EXPECT_THAT(found.state, SameBits(expected.state));
          EXPECT_THAT(found.losses, SameBits(expected.losses));
          EXPECT_EQ(found.right, expected.right);
        }
      }
    }
  }
}

// Groups of all packs, of two packs, and of one.
model::Model norm_model() {
  return {"norm",
          {1, 4, 4},
          {{"conv1", model::Conv2d{3, {3, 3}, {1, 1}, {1, 1}}},
           {"bn1", model::BatchNorm{}},
           {"relu1", model::Relu{}},
           {"conv2", model::Conv2d{5, {3, 3}, {2, 2}, {1, 1}}},
           {"bn2", model::BatchNorm{.ghost = 32}},
           {"flatten1", model::Flatten{}},
           {"linear1", model::Linear{10}},
           {"bn3", model::BatchNorm{.ghost = 16}}},
          0.3};
}

class OpenClParallel : public testing::TestWithParam<arithmetic::ConvolutionRule> {};

TEST_P(OpenClParallel, EverySettingHasTheBitsOfOneCpuDevice) {
  inventory::Inventory inventory({.cache = device::kernels_for_test()});
  if (std::ranges::none_of(inventory.listed(), &inventory::Listed::on_cores))
    GTEST_SKIP() << "no OpenCL device that can be divided";
  Job job{model::zoo_model("lenet"), {256, 96, 17}};
  job.model.convolution = GetParam();
  expect_same_bits(
      inventory, job,
      Devices{{"opencl:0"}, {"opencl:0", "opencl:1"}, {"cpu:0", "opencl:0"}, {"opencl:0", "cpu:0", "cpu:1"}});
}

TEST(OpenClNormParallel, GroupsThatSpanDevicesHaveTheBitsOfOneCpuDevice) {
  inventory::Inventory inventory({.cache = device::kernels_for_test()});
  if (std::ranges::none_of(inventory.listed(), &inventory::Listed::on_cores))
    GTEST_SKIP() << "no OpenCL device that can be divided";
  expect_same_bits(
      inventory, {norm_model(), {112, 96, 18}},
      Devices{{"cpu:0", "opencl:0"}, {"opencl:0"}, {"opencl:0", "opencl:1"}, {"opencl:0", "cpu:0", "cpu:1"}});
}

INSTANTIATE_TEST_SUITE_P(Rules, OpenClParallel,
                         testing::Values(arithmetic::ConvolutionRule::direct,
                                         arithmetic::ConvolutionRule::fast),
                         [](const auto& rule) {
                           return rule.param == arithmetic::ConvolutionRule::direct ? "Direct" : "Fast";
                         });

// The gradients of the first layer underflow: each product is so small and negative that it is rounded to -0,
// which is +0 once the sum is finished. One pack: the second device computes nothing, and owns a part of
// every sum.
TEST(OpenClSums, ADeviceWithoutPacksFinishesSumsOfMinusZero) {
  inventory::Inventory inventory({.cache = device::kernels_for_test()});
  if (std::ranges::none_of(inventory.listed(), &inventory::Listed::on_cores))
    GTEST_SKIP() << "no OpenCL device";
  const model::Model model{
      "underflow",
      {1, 2, 2},
      {{"flatten1", model::Flatten{}}, {"linear1", model::Linear{64}}, {"linear2", model::Linear{2}}},
      1.0};
  constexpr float kUnits = 64;
  Weights weights{
      std::vector<float>(256, 1.0f), std::vector<float>(64, 0.0f), std::vector<float>(128, -1.0f), {0, 0}};
  // exp(-103) is the smallest denormal, the gradient of the wrong class; that of the right class is 0.
  std::fill_n(weights[2].begin(), 64, 103.0f / (kUnits * 4 / 255) - 1);
  const std::vector<std::uint8_t> pixels(16 * 4, 1), labels(16, 0);
  std::vector<std::uint32_t> order(16);
  std::iota(order.begin(), order.end(), 0U);
  const program::Program program = program::compile_training(model);
  const auto gradients_on = [&](const std::vector<std::string>& devices) {
    Crew crew(inventory.make(devices, {.threads = 1, .bind = false}).devices, {.share_cores = true});
    Runner runner(crew, data_parallel(program, plan_for(crew)), {.most_examples = 16});
    runner.upload(weights);
    EXPECT_TRUE(runner.step({{pixels.data(), labels.data(), order}, {0.1f}}).finite);
    std::vector<Weights> of_devices(devices.size());
    for (std::size_t d = 0; d < devices.size(); ++d) {
      for (std::size_t i = 0; i < weights.size(); ++i) {
        of_devices[d].emplace_back(weights[i].size());
        runner.executable(static_cast<int>(d)).download(program.gradients[i], of_devices[d][i]);
      }
    }
    return of_devices;
  };
  const Weights expected = gradients_on({"cpu:0"}).front();
  ASSERT_THAT(expected[0], SameBits(std::vector<float>(256, 0.0f)));
  for (const Weights& found : gradients_on({"cpu:0", "opencl:0"})) EXPECT_THAT(found, SameBits(expected));
}

// Every layer kind, and a convolution that is fast.
model::Model small_model() {
  return {"small",
          {1, 8, 8},
          {{"conv1", model::Conv2d{16, {3, 3}}},
           {"relu1", model::Relu{}},
           {"conv2", model::Conv2d{17, {3, 3}, {1, 1}, {1, 1}}},
           {"relu2", model::Relu{}},
           {"pool2", model::AvgPool{{2, 2}, {2, 2}}},
           {"flatten1", model::Flatten{}},
           {"linear1", model::Linear{10}}},
          0.3};
}

class CudaParallel : public testing::TestWithParam<const char*> {};

TEST_P(CudaParallel, OneToEightDevicesHaveTheBitsOfOneCpuDevice) {
#if !defined(LOCKSTEP_CUDA_STANDIN) || !defined(LOCKSTEP_NVRTC)
  GTEST_SKIP() << "built without the stand-in for CUDA's driver, or without NVRTC";
#else
  const gpu::cuda::Standin standin(GetParam());
  ASSERT_TRUE(standin.library()) << standin.problem();
  inventory::Inventory inventory({.cache = device::kernels_for_test(),
                                  .cuda_library = LOCKSTEP_CUDA_STANDIN,
                                  .nvrtc_library = LOCKSTEP_NVRTC});
  std::vector<std::vector<std::string>> settings{several("cuda", 3)};
#if !defined(LOCKSTEP_SANITIZED)  // which takes ten times as long
  settings.push_back({"cpu:0", "cuda:0"});
  settings.push_back({"cuda:3", "cuda:1", "cpu:0"});
  for (const int count : {1, 2, 4, 5, 6, 7, 8}) settings.push_back(several("cuda", count));
#endif
  expect_same_bits(inventory, {small_model(), {112, 96, 33}}, settings);
#if !defined(LOCKSTEP_SANITIZED)
  expect_same_bits(inventory, {norm_model(), {48, 34}}, std::span(settings).first(1));
#endif

  inventory::MadeDevices made = inventory.make(several("cuda", 2), {});
  EXPECT_EQ(Crew(std::move(made.devices), {}).direct(0),
            (std::vector{false, std::string(GetParam()).ends_with("peer=1")}));
#endif
}

// Straight from device to device, or through the host.
INSTANTIATE_TEST_SUITE_P(Ways, CudaParallel,
                         testing::Values("devices=8,order=shuffled,seed=3,peer=1",
                                         "devices=8,order=shuffled,seed=4,peer=0"),
                         [](const auto& way) { return way.index == 0 ? "Direct" : "ThroughTheHost"; });

// The last bias is infinite: the first device or the owner of that bias alone sees it.
TEST(CudaVerdict, AStepThatIsNotFiniteChangesNoReplica) {
#if !defined(LOCKSTEP_CUDA_STANDIN) || !defined(LOCKSTEP_NVRTC)
  GTEST_SKIP() << "built without the stand-in for CUDA's driver, or without NVRTC";
#else
  const gpu::cuda::Standin standin("devices=2");
  ASSERT_TRUE(standin.library()) << standin.problem();
  inventory::Inventory inventory({.cache = device::kernels_for_test(),
                                  .cuda_library = LOCKSTEP_CUDA_STANDIN,
                                  .nvrtc_library = LOCKSTEP_NVRTC});
  const model::Model model{
      "linear", {1, 2, 2}, {{"flatten1", model::Flatten{}}, {"linear1", model::Linear{10}}}};
  Weights weights = reference::initial_parameters(model, 3);
  weights.back()[0] = std::numeric_limits<float>::infinity();
  const Examples examples(32, 4);
  for (const std::vector<std::string>& devices : {several("cuda", 1), several("cuda", 2)}) {
    for (const bool shard : {false, true}) {
      inventory::MadeDevices made = inventory.make(devices, {.threads = 1, .bind = false});
      Crew crew(std::move(made.devices), {.share_cores = true});
      Runner runner(
          crew, data_parallel(program::compile_training(model), plan_for(crew, {.shard_optimizer = shard})),
          {.most_examples = 32});
      runner.upload(weights);
      EXPECT_FALSE(runner.step(examples.input(32)).finite);
      for (int device = 0; device < crew.size(); ++device)
        EXPECT_THAT(runner.download(device), SameBits(weights))
            << "device " << device << ", sharded " << shard;
    }
  }
#endif
}

}  // namespace
}  // namespace lockstep::run
