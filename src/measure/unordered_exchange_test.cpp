#include "measure/unordered_exchange.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "measure/crew_for_test.h"
#include "measure/exchange_work.h"
#include "measure/synthetic_minibatch.h"
#include "measure/unordered_crew.h"
#include "model/zoo.h"
#include "plan/deal.h"
#include "program/compile.h"
#include "run/runner.h"
#include "train/job.h"

namespace lockstep::measure {
namespace {

namespace exchange = program::exchange;

constexpr std::size_t kElements = 3 * 1024 * 16, kBytes = kElements * sizeof(float);

exchange::Setting setting_of(int devices) {
  return {.sums = {kElements, kElements},
          .trained = {false, true},
          .packs = 16,
          .shares = plan::deal_packs({0, 16}, devices)};
}

std::vector<exchange::List> lists_of(int devices) {
  const exchange::Setting setting = setting_of(devices);
  return emit_unordered(setting, exchange::kind_named("sharded").shards(setting.sums, devices));
}

int count_of_joins_that_only_add(const exchange::List& list) {
  int count = 0;
  for (const exchange::Instruction& instruction : list) {
    const auto* const join = std::get_if<exchange::Join>(&instruction.operation);
    if (join != nullptr && only_adds(*join)) ++count;
  }
  return count;
}

TEST(UnorderedExchange, MovesOneSumADeviceHoweverManySubtreesItHolds) {
  for (const int devices : {2, 3, 5}) {
    for (const DeviceWork& device : work_of(lists_of(devices))) {
      const double sums = 2.0 * (devices - 1) / devices * static_cast<double>(kBytes);
      EXPECT_NEAR(static_cast<double>(device.gathered), sums, 8 * 64) << devices;
      EXPECT_NEAR(static_cast<double>(device.returned), sums, 8 * 64) << devices;
    }
  }
}

TEST(UnorderedExchange, OnlyDevicesWithSeveralSubtreesAddBeforeTheySend) {
  for (const exchange::List& list : lists_of(2)) EXPECT_EQ(count_of_joins_that_only_add(list), 0);
  for (const exchange::List& list : lists_of(3)) {
    EXPECT_EQ(count_of_joins_that_only_add(list), 2) << "one a sum";
    const auto first_of_group = std::ranges::find(list, 0, &exchange::Instruction::group);
    ASSERT_NE(first_of_group, list.end());
    const auto* const join = std::get_if<exchange::Join>(&first_of_group->operation);
    EXPECT_TRUE(join != nullptr && only_adds(*join)) << "before anything is sent";
  }
}

TEST(UnorderedExchange, AJoinWaitsForTheLastReceiveOfItsRange) {
  for (const exchange::List& list : lists_of(3)) {
    for (const exchange::Instruction& instruction : list) {
      const auto* const join = std::get_if<exchange::Join>(&instruction.operation);
      if (join == nullptr || only_adds(*join)) continue;
      EXPECT_EQ(join->subtrees.size(), 3U);
      ASSERT_GE(instruction.after, 0);
      const auto* const receive =
          std::get_if<exchange::Receive>(&list[static_cast<std::size_t>(instruction.after)].operation);
      ASSERT_NE(receive, nullptr);
      EXPECT_EQ(receive->place.range, join->range);
    }
  }
}

run::Weights after_a_step(std::unique_ptr<run::Crew> crew, run::RunnerOptions options) {
  const model::Model model = model::lenet();
  const SyntheticMinibatch minibatch(model.input, model::classes_of(model), 256);
  run::Runner runner(*crew, program::compile_training(model), options);
  runner.upload(train::initial_weights(model, 0));
  device::StepInput input = minibatch.step_input();
  input.update.learning_rate = 1;
  EXPECT_TRUE(runner.step(input).finite);
  return runner.download(crew->size() - 1);
}

run::Weights unordered_weights(int devices) {
  return after_a_step(make_unordered_crew(make_crew_for_test(devices, 1), cpu::choose_kernels("")),
                      {.emit = emit_unordered});
}

TEST(UnorderedExchange, TrainsTheSameUpToRounding) {
  const run::Weights law = after_a_step(make_crew_for_test(3, 1), {}), other = unordered_weights(3);
  const run::Weights before = train::initial_weights(model::lenet(), 0);
  bool differs = false;
  for (std::size_t i = 0; i < law.size(); ++i) {
    float largest_change = 0;
    for (std::size_t j = 0; j < law[i].size(); ++j)
      largest_change = std::max(largest_change, std::abs(law[i][j] - before[i][j]));
    ASSERT_GT(largest_change, 0);
    for (std::size_t j = 0; j < law[i].size(); ++j) {
      ASSERT_NEAR(law[i][j], other[i][j], 1e-5F * largest_change + 1e-7F) << "parameter " << i;
      differs = differs || law[i][j] != other[i][j];
    }
  }
  EXPECT_TRUE(differs) << "another order of additions";
}

TEST(UnorderedExchange, TwoDevicesHaveTheSameBits) {
  EXPECT_EQ(after_a_step(make_crew_for_test(2, 1), {}), unordered_weights(2));
}

}  // namespace
}  // namespace lockstep::measure
