#include "measure/unordered_exchange.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "measure/crew_for_test.h"
#include "measure/exchange_work.h"
#include "measure/synthetic_minibatch.h"
#include "measure/training_step.h"
#include "model/zoo.h"
#include "program/checked_for_test.h"
#include "program/compile.h"
#include "program/order.h"
#include "run/runner.h"
#include "train/job.h"

namespace lockstep::measure {
namespace {

using program::Join;
using program::Program;

constexpr std::size_t kElements = 3 * 1024 * 16, kBytes = kElements * sizeof(float);

// Two sums, which travel apart.
std::vector<Program> programs_of(int devices) {
  Program step;
  step.purpose = program::Purpose::evaluation;
  for (const char* name : {"a", "b"}) {
    const auto partial = static_cast<program::BufferId>(step.buffers.size());
    step.buffers.push_back({std::string(name) + ".partial", program::Role::partial, kElements});
    step.buffers.push_back({name, program::Role::gradient, kElements});
    step.sums.push_back({.partial = partial, .gradient = partial + 1});
  }
  step.segments = {{"packs", program::Segment::Over::packs, {}}};
  return program::checked_data_parallel(step, {.ranks = devices}, 16);
}

bool only_adds(const program::ExchangeInstruction& instruction) {
  const auto* const join = std::get_if<Join>(&instruction.operation);
  return join != nullptr && join->op == Join::Operator::add;
}

TEST(UnorderedExchange, MovesOneSumADeviceHoweverManySubtreesItHolds) {
  for (const int devices : {2, 3, 5}) {
    for (const DeviceWork& device : work_of(without_order(programs_of(devices)))) {
      const double sums = 2.0 * (devices - 1) / devices * static_cast<double>(kBytes);
      EXPECT_NEAR(static_cast<double>(device.collected), sums, 8 * 64) << devices;
      EXPECT_NEAR(static_cast<double>(device.returned), sums, 8 * 64) << devices;
    }
  }
}

TEST(UnorderedExchange, OnlyDevicesWithSeveralSubtreesAddBeforeTheySend) {
  for (const Program& program : without_order(programs_of(2)))
    EXPECT_EQ(std::ranges::count_if(program.exchange, only_adds), 0);
  for (const Program& program : without_order(programs_of(3))) {
    EXPECT_EQ(std::ranges::count_if(program.exchange, only_adds), 2) << "one a sum";
    EXPECT_TRUE(only_adds(program.exchange.front()) ||
                std::holds_alternative<program::Receive>(program.exchange.front().operation))
        << "before anything is sent";
  }
}

TEST(UnorderedExchange, IsStillOrderedWhereItMustBe) {
  for (const int devices : {2, 3, 5, 8}) {
    const std::vector<Program> programs = without_order(programs_of(devices));
    for (const Program& program : programs) EXPECT_NO_THROW(program::check_program(program));
    EXPECT_NO_THROW(program::check_order(programs));
  }
}

run::Weights after_a_step(int devices, const TrainingStep::Rewrite& rewrite = nullptr) {
  const std::unique_ptr<run::Crew> crew = make_crew_for_test(devices, 1);
  const model::Model model = model::lenet();
  const SyntheticMinibatch minibatch(model.input, model::classes_of(model), 256);
  run::Programs programs = run::data_parallel(program::compile_training(model), run::plan_for(*crew));
  if (rewrite) programs.make = [make = programs.make, rewrite](int packs) { return rewrite(make(packs)); };
  run::Runner runner(*crew, programs, {});
  runner.upload(train::initial_weights(model, 0));
  device::StepInput input = minibatch.step_input();
  input.update.learning_rate = 1;
  EXPECT_TRUE(runner.step(input).finite);
  return runner.download(crew->size() - 1);
}

TEST(UnorderedExchange, TrainsTheSameUpToRounding) {
  const run::Weights law = after_a_step(3), other = after_a_step(3, without_order);
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
  EXPECT_EQ(after_a_step(2), after_a_step(2, without_order));
}

}  // namespace
}  // namespace lockstep::measure
