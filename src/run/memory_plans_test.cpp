// A step that does not fit is refused before anything is allocated.
#include "run/memory_plans.h"

#include <gtest/gtest.h>

#include "base/refusal_for_test.h"
#include "cpu/cpu_device.h"
#include "model/zoo.h"
#include "program/compile.h"

namespace lockstep::run {
namespace {

constexpr RunnerOptions kOptions{.most_examples = 64};

Programs programs_for(const Crew& crew) {
  return data_parallel(program::compile_training(model::zoo_model("mlp")), plan_for(crew));
}

std::unique_ptr<Crew> crew_with(std::vector<std::string> names, std::size_t memory) {
  return std::make_unique<Crew>(
      cpu::make_cpu_devices({.names = std::move(names), .threads = 1, .memory = memory}), Crew::Options{});
}

std::size_t need_of(Crew& crew) {
  const Programs programs = programs_for(crew);
  std::size_t bytes = 0;
  for (const program::MemoryPlan& plan :
       memory_plans(crew, programs.make(4), load_options(crew, programs, kOptions)))
    bytes += plan.peak();
  return bytes;
}

TEST(MemoryPlans, DevicesThatShareAMemoryHaveToFitTogether) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"cpu:0"}, std::vector<std::string>{"cpu:0", "cpu:1"}}) {
    const std::size_t need = need_of(*crew_with(names, cpu::kNoLimit));
    const auto enough = crew_with(names, need), short_of_one = crew_with(names, need - 1);
    const Runner fits(*enough, programs_for(*enough), kOptions);
    const std::string said = refusal_of(
        Fault::device, [&] { const Runner runner(*short_of_one, programs_for(*short_of_one), kOptions); });
    EXPECT_EQ(said.find("the host has "), 0u) << said;
    EXPECT_NE(said.find(" MB of memory free, the training needs "), std::string::npos) << said;
    EXPECT_NE(said.find("(parameters "), std::string::npos) << said;
    EXPECT_NE(said.find(", activations "), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace lockstep::run
