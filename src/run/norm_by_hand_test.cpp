// Batch norm on two devices whose packs share statistics, with lists that are written by hand: the rows of
// packs travel to the owner of a group in the middle of a step, and its result to all.
#include <algorithm>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "device/kernels_for_test.h"
#include "gpu/cuda/standin_for_test.h"
#include "gpu/norm_step_for_test.h"
#include "inventory/inventory.h"
#include "run/runner.h"

namespace lockstep::run {
namespace {

using arithmetic::PackRange;

void expect_on(inventory::Inventory& inventory, const std::vector<std::string>& names,
               const gpu::NormStepCase& c, const std::vector<PackRange>& shares) {
  SCOPED_TRACE(fmt::format("{}, groups of {} packs", fmt::join(names, ", "), c.group_packs));
  gpu::NormStep step(c);
  const std::vector<program::Program> programs = step.programs().of(shares);
  inventory::MadeDevices made = inventory.make(names, {.threads = 1, .bind = false});
  Crew crew(std::move(made.devices), {.share_cores = made.share_cores});
  Runner runner(crew, {[&](int) { return programs; }},
                {.most_examples = c.examples, .order = device::Order::layer});
  for (int again = 0; again < 3; ++again) {
    runner.upload(step.parameters());
    EXPECT_TRUE(runner.step(step.input()).finite);
    crew.run([&](int rank) {
      const auto r = static_cast<std::size_t>(rank);
      step.expect_of(runner.executable(rank), programs[r], shares[r]);
    });
  }
}

// Five packs: all in one group, groups that no device has alone, and groups of one pack.
const std::vector<gpu::NormStepCase> kSharedNorms = {
    {{3, 2, 3}, 70, 0, true}, {{17, 3, 3}, 75, 3, false}, {{3, 2, 3}, 70, 1, false}};

TEST(NormByHand, RunsOnCpuAndOpenClDevices) {
  inventory::Inventory inventory({.cache = device::kernels_for_test()});
  if (std::ranges::none_of(inventory.listed(), &inventory::Listed::on_cores))
    GTEST_SKIP() << "no OpenCL device";
  for (const std::vector<std::string>& names : {std::vector<std::string>{"cpu:0", "cpu:1"},
                                                {"cpu:0", "opencl:0"},
                                                {"opencl:0", "cpu:0"},
                                                {"opencl:0", "opencl:1"}}) {
    for (const gpu::NormStepCase& c : kSharedNorms) expect_on(inventory, names, c, {{0, 2}, {2, 5}});
  }
  expect_on(inventory, {"opencl:0", "cpu:0"}, kSharedNorms[0], {{0, 5}, {5, 5}});
}

class CudaNormByHand : public testing::TestWithParam<const char*> {};

TEST_P(CudaNormByHand, RunsOnCpuAndCudaDevices) {
#if !defined(LOCKSTEP_CUDA_STANDIN) || !defined(LOCKSTEP_NVRTC)
  GTEST_SKIP() << "built without the stand-in for CUDA's driver, or without NVRTC";
#else
  const gpu::cuda::Standin standin(GetParam());
  ASSERT_TRUE(standin.library()) << standin.problem();
  inventory::Inventory inventory({.cache = device::kernels_for_test(),
                                  .cuda_library = LOCKSTEP_CUDA_STANDIN,
                                  .nvrtc_library = LOCKSTEP_NVRTC});
  for (const gpu::NormStepCase& c : kSharedNorms) {
    expect_on(inventory, {"cuda:0", "cuda:1", "cuda:2"}, c, {{0, 2}, {2, 4}, {4, 5}});
    expect_on(inventory, {"cpu:0", "cuda:0"}, c, {{0, 2}, {2, 5}});
  }
#endif
}

// Straight from device to device, or through the host.
INSTANTIATE_TEST_SUITE_P(Ways, CudaNormByHand,
                         testing::Values("devices=3,order=shuffled,seed=5,peer=1",
                                         "devices=3,order=shuffled,seed=6,peer=0"),
                         [](const auto& way) { return way.index == 0 ? "Direct" : "ThroughTheHost"; });

}  // namespace
}  // namespace lockstep::run
