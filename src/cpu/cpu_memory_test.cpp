// What a CPU device allocates is what the plan says, to the byte.
#include <gtest/gtest.h>

#include "cpu/cpu_device.h"
#include "cpu/cpu_executable.h"
#include "model/zoo.h"
#include "program/checked_for_test.h"
#include "program/compile.h"

namespace lockstep::cpu {
namespace {

TEST(CpuMemory, AllocatesWhatThePlanSays) {
  constexpr int kPacks = 16;
  for (const char* name : {"lenet", "mlp", "resnet8"}) {
    for (const auto rule : {arithmetic::ConvolutionRule::direct, arithmetic::ConvolutionRule::fast}) {
      model::Model model = model::zoo_model(name);
      model.convolution = rule;
      const program::Program step =
          program::compile_training(model, {.rule = arithmetic::UpdateKind::momentum});
      for (const bool shard : {false, true}) {
        const std::vector<program::Program> programs =
            program::checked_data_parallel(step, {.ranks = 2, .shard_optimizer = shard}, kPacks);
        for (const device::Order order : {device::Order::pack, device::Order::layer}) {
          for (const int threads : {1, 3}) {
            const auto device = make_cpu_device({.threads = threads});
            const auto executable =
                device->load(programs[1], {.most_packs = kPacks / 2, .order = order, .alone = false});
            const auto& on_cpu = dynamic_cast<const CpuExecutable&>(*executable);
            EXPECT_EQ(on_cpu.allocated(), on_cpu.memory_plan().peak())
                << name << ", " << threads << " threads, order " << static_cast<int>(order);
          }
        }
      }
    }
  }
}

// Sixteen devices on few cores take turns in a workspace a core.
TEST(CpuMemory, AWorkspaceCountsOnceForAllDevicesThatTakeTurnsInIt) {
  constexpr int kDevices = 16;
  const program::Program step = program::compile_training(model::zoo_model("lenet"));
  const std::vector<program::Program> programs =
      program::checked_data_parallel(step, {.ranks = kDevices}, kDevices);
  std::vector<std::string> names;
  for (int i = 0; i < kDevices; ++i) names.push_back("cpu:" + std::to_string(i));
  const auto devices = make_cpu_devices({.names = names, .threads = 1});
  int workspaces = 0;
  for (std::size_t d = 0; d < devices.size(); ++d)
    workspaces += devices[d]->plan(programs[d], {.most_packs = 1, .alone = false}).workspaces;
  EXPECT_EQ(workspaces, std::min(usable_cores(), kDevices));
}

// Beside a training: the parameters lie where the training has them.
TEST(CpuMemory, AnEvaluationHasNoCopyOfTheParameters) {
  const model::Model model = model::zoo_model("lenet");
  const program::Program step = program::checked_data_parallel(program::compile_training(model), {}, 16)[0];
  const program::Program evaluation =
      program::checked_data_parallel(program::compile_evaluation(model), {}, 16)[0];
  const auto device = make_cpu_device({.threads = 1});
  const auto training = device->load(step, {});
  // In layer order an executable has workspaces of its own, not those that the training has, too.
  const device::LoadOptions beside{.order = device::Order::layer, .parameters_of = training.get()};
  const auto executable = device->load(evaluation, beside);
  const program::MemoryPlan plan = device->plan(evaluation, beside);
  EXPECT_EQ(plan[program::MemoryClass::parameters], 0U);
  EXPECT_GT(device->plan(evaluation, {})[program::MemoryClass::parameters], 0U);
  EXPECT_EQ(dynamic_cast<const CpuExecutable&>(*executable).allocated(), plan.peak());
  for (std::size_t i = 0; i < step.parameters.size(); ++i)
    EXPECT_EQ(executable->parameter(evaluation.parameters[i]).data(),
              training->parameter(step.parameters[i]).data());
}

TEST(CpuMemory, WhatIsFreeIsNoMoreThanTheDeviceMayTake) {
  const device::FreeMemory free = make_cpu_device({.threads = 1, .memory = 1'500'000})->free_memory();
  EXPECT_EQ(free.bytes, 1'500'000u);
  EXPECT_EQ(free.text, "the host has 1.5 MB of memory free");
}

}  // namespace
}  // namespace lockstep::cpu
