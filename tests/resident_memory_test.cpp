// What a training takes of the host's memory is what its plan says: growth of resident memory from before
// loading to after step 3, on a residual network of 20 layers with weights.
//
// Each test has a process of its own, and its device is new: a CPU device keeps its workspaces for the next
// training, which would then take less. A driver's own memory is taken before loading, when the device is
// made and proves its arithmetic.
#include <fstream>
#include <iostream>

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include "arithmetic/optimizer.h"
#include "cpu/cpu_device.h"
#include "inventory/inventory.h"
#include "measure/residual_network.h"
#include "program/compile.h"
#include "run/memory_plans.h"
#include "run/runner.h"

namespace lockstep {
namespace {

constexpr int kExamples = 256;
constexpr int kSide = 28;

// Bytes of this process that lie in memory. What the allocator keeps for later is given back first.
std::size_t resident() {
  malloc_trim(0);
  std::size_t pages = 0, in_memory = 0;
  std::ifstream("/proc/self/statm") >> pages >> in_memory;
  return in_memory * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

struct Examples {
  std::vector<std::uint8_t> pixels = std::vector<std::uint8_t>(kExamples * kSide * kSide, 1);
  std::vector<std::uint8_t> labels = std::vector<std::uint8_t>(kExamples, 1);
  std::vector<std::uint32_t> order = std::vector<std::uint32_t>(kExamples, 0);
};

struct Growth {
  std::size_t planned = 0, measured = 0;
};

// Of a training of three steps. Requires: the device has run nothing.
Growth train(device::Device& device, const model::Model& model) {
  const Examples set;
  run::Crew crew(std::vector{&device});
  const run::RunnerOptions options{.most_examples = kExamples};
  const run::Programs programs = run::data_parallel(
      program::compile_training(model, {.rule = arithmetic::UpdateKind::momentum}), run::plan_for(crew));
  Growth growth;
  for (const program::MemoryPlan& plan : run::memory_plans(crew, programs.make(kExamples / arithmetic::kPack),
                                                           run::load_options(crew, programs, options)))
    growth.planned += plan.peak();
  const std::size_t before = resident();
  run::Runner runner(crew, programs, options);
  for (int step = 1; step <= 3; ++step)
    runner.step({.minibatch = {set.pixels.data(), set.labels.data(), set.order}, .step = step});
  growth.measured = resident() - before;
  return growth;
}

void expect_growth_as_planned(device::Device& device) {
  const Growth growth = train(device, measure::residual_network(9));
  const double ratio = static_cast<double>(growth.measured) / static_cast<double>(growth.planned);
  std::cout << "planned " << growth.planned << " bytes, measured " << growth.measured << ", ratio " << ratio
            << '\n';
  EXPECT_GT(ratio, 0.9);
  EXPECT_LT(ratio, 1.1);
}

TEST(ResidentMemory, GrowsAsPlannedOnACpu) {
  expect_growth_as_planned(*cpu::make_cpu_device({.threads = 2}));
}

TEST(ResidentMemory, GrowsAsPlannedOnOpenCl) {
  inventory::Inventory inventory;
  expect_growth_as_planned(*inventory.make({"opencl:0"}, {}).devices.front());
}

}  // namespace
}  // namespace lockstep
