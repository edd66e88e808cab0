// What a program is said to need is what it allocates, to the byte.
#include "gpu/gpu_memory.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "base/refusal_for_test.h"
#include "gpu/bare_driver_for_test.h"
#include "gpu/gpu_executable.h"
#include "gpu/launch_plan.h"
#include "gpu/memory_sizes.h"
#include "gpu/norm_step_for_test.h"
#include "model/zoo.h"
#include "program/checked_for_test.h"
#include "program/compile.h"

namespace lockstep::gpu {
namespace {

struct Loaded {
  const char* name;
  program::Program program;
  MemorySizes sizes;
};

program::Program program_of(const program::Program& step) {
  return program::checked_data_parallel(step, {}, 16)[0];
}

std::vector<Loaded> every_kind() {
  model::Model fast = model::zoo_model("lenet");
  fast.convolution = arithmetic::ConvolutionRule::fast;
  std::vector<Loaded> all;
  for (const int group : {1, 7}) {
    const MemorySizes sizes{.group = group, .most_packs = 16, .stack = 5, .inbox = 4321};
    all.push_back({"a linear model", program_of(program::compile_training(model::zoo_model("mlp"))), sizes});
    all.push_back({"fast convolutions",
                   program_of(program::compile_training(fast, {.rule = arithmetic::UpdateKind::momentum})),
                   sizes});
    all.push_back(
        {"an evaluation", program_of(program::compile_evaluation(model::zoo_model("lenet"))), sizes});
    all.push_back({"batch norm",
                   NormStep({{3, 2, 3}, 256, 2, false}).program(),
                   {.group = 16, .most_packs = 16, .stack = 5, .inbox = 4321}});
  }
  for (Loaded& each : all) plan_launches(each.program, kLaneStyle, each.sizes);
  return all;
}

TEST(GpuMemory, FitsWhereAllOfItFitsAndNotInAByteLess) {
  for (const Loaded& each : every_kind()) {
    SCOPED_TRACE(testing::Message() << each.name << " in groups of " << each.sizes.group);
    BareDriver driver;
    { const GpuMemory memory(driver, each.program, each.sizes); }
    const std::size_t total =
        std::accumulate(driver.allocations.begin(), driver.allocations.end(), std::size_t{0});
    const std::size_t largest = std::ranges::max(driver.allocations);
    EXPECT_EQ(GpuMemory::plan_of(each.program, each.sizes).peak(), total);

    driver.bare_facts.memory = total;
    driver.bare_facts.largest_allocation = largest;
    EXPECT_EQ(GpuMemory::shortage(driver, each.program, each.sizes), "");
    driver.bare_facts.memory = total - 1;
    EXPECT_NE(GpuMemory::shortage(driver, each.program, each.sizes), "");
    driver.bare_facts.memory = total;
    driver.bare_facts.largest_allocation = largest - 1;
    EXPECT_NE(GpuMemory::shortage(driver, each.program, each.sizes), "");
  }
}

TEST(GpuMemory, AnEvaluationHasNoCopyOfTheParameters) {
  const program::Program evaluation = program_of(program::compile_evaluation(model::zoo_model("lenet")));
  MemorySizes sizes;
  plan_launches(evaluation, kLaneStyle, sizes);
  EXPECT_GT(GpuMemory::plan_of(evaluation, sizes)[program::MemoryClass::parameters], 0U);
  sizes.borrows_parameters = true;
  EXPECT_EQ(GpuMemory::plan_of(evaluation, sizes)[program::MemoryClass::parameters], 0U);
}

TEST(GpuMemory, AShortageAllocatesNothing) {
  BareDriver driver;
  driver.bare_facts.memory = 1'000'000;
  const Loaded each = every_kind().front();
  const std::string said =
      refusal_of(Fault::device, [&] { const GpuMemory memory(driver, each.program, each.sizes); });
  EXPECT_EQ(said.find("bare:0 has 1.0 MB of its 1.0 MB of memory free, the training needs "), 0u) << said;
  EXPECT_TRUE(driver.allocations.empty());
}

// Activations that outlive their segment leave no choice: all packs of the share fit, or nothing does.
TEST(GpuMemory, SegmentsThatShareActivationsTakeAllPacksAtOnce) {
  const program::Program program = NormStep({{3, 2, 3}, 256, 2, false}).program();
  BareDriver driver;
  const device::LoadOptions options{.most_packs = 16, .of_free_memory = 1};
  const MemorySizes sizes = memory_sizes(program, options, driver);
  EXPECT_EQ(sizes.group, 16);
  driver.bare_facts.memory = GpuMemory::plan_of(program, sizes).peak();
  EXPECT_EQ(memory_sizes(program, options, driver).group, 16);
  { const GpuExecutable fits(program, options, driver); }
  --driver.bare_facts.memory;
  EXPECT_EQ(memory_sizes(program, options, driver).group, 16);
  const std::string said =
      refusal_of(Fault::device, [&] { const GpuExecutable executable(program, options, driver); });
  EXPECT_NE(said.find(" memory free, the training needs "), std::string::npos) << said;
  EXPECT_NE(said.find(" statistics "), std::string::npos) << said;
}

// What kernels cannot count is refused before anything is allocated.
TEST(GpuMemory, SegmentsThatShareActivationsOfTooManyPacksAreRefused) {
  program::Program program = NormStep({{3, 2, 3}, 32, 0, false}).program();
  program.buffers[0].elements = std::size_t{1} << 26;
  BareDriver driver;
  const std::string said =
      refusal_of(Fault::device, [&] { const GpuExecutable executable(program, {.most_packs = 2}, driver); });
  EXPECT_EQ(said,
            "bare:0: x of 2 packs at once has more floats than a GPU's kernels count; use more devices");
  EXPECT_TRUE(driver.allocations.empty());
}

// A driver may have less to give than it says.
TEST(GpuMemory, WhereADriverGivesLessTheNeedIsSaid) {
  BareDriver driver;
  driver.most_allocations = 3;
  const std::vector<Loaded> kinds = every_kind();
  const Loaded& each = *std::ranges::find_if(
      kinds, [](const Loaded& kind) { return kind.program.purpose == program::Purpose::evaluation; });
  const std::string said =
      refusal_of(Fault::device, [&] { const GpuMemory memory(driver, each.program, each.sizes); });
  EXPECT_EQ(said.find("bare:0: no more memory; the evaluation needs "), 0u) << said;
  EXPECT_NE(said.find(" activations "), std::string::npos) << said;
}

}  // namespace
}  // namespace lockstep::gpu
