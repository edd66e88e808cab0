// Every update rule against every place that must know it: state names, naive twin, CPU kernels, GPU kernels,
// and the update of a part by its owner. The list of rules is the law's table. A place that has no kernel or
// twin for a rule does not compile; one that has a wrong kernel or twin fails here.
#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "cpu/cpu_device.h"
#include "cpu/kernels.h"
#include "gpu_devices_for_test.h"
#include "program/compile.h"
#include "reference/step.h"
#include "reference/update.h"
#include "run/runner.h"
#include "run/state_for_test.h"

namespace lockstep {
namespace {

using arithmetic::UpdateRule;
using reference::Tensor;

constexpr arithmetic::UpdateScalars kScalars{.learning_rate = 0.1f, .momentum = 0.9f};
constexpr int kSteps = 3;
constexpr std::size_t kExamples = 37;

model::Model small_model() {
  return {"small",
          {1, 6, 6},
          {{"conv1", model::Conv2d{5, {3, 3}}},
           {"relu1", model::Relu{}},
           {"flatten1", model::Flatten{}},
           {"linear1", model::Linear{4}}},
          0.3};
}

struct Examples {
  std::vector<std::uint8_t> pixels, labels;
  std::vector<std::uint32_t> order;
  Examples() : order(kExamples) {
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t e = 0; e < kExamples; ++e) {
      labels.push_back(static_cast<std::uint8_t>(e * 5 % 4));
      for (std::size_t p = 0; p < 36; ++p)
        pixels.push_back(static_cast<std::uint8_t>((e * 37 + p * p * 11) % 251));
    }
  }
};
const Examples kSet;

// The parameters, then each state of the rule.
run::Weights beginning(const UpdateRule& rule) {
  return run::numbers_of(
      run::initial_state(small_model(), rule.kind, reference::initial_parameters(small_model(), 3)));
}

void twin_step(const UpdateRule& rule, run::Weights& state) {
  std::vector<float> images;
  for (const std::uint8_t pixel : kSet.pixels) images.push_back(static_cast<float>(pixel) / 255.0f);
  const std::size_t parameters = state.size() / (1 + rule.states.size());
  const auto step = reference::train_step(small_model(), std::span(state).first(parameters),
                                          {images, kSet.labels}, kScalars.learning_rate);
  for (std::size_t p = 0; p < parameters; ++p) {
    std::vector<Tensor> states;
    for (std::size_t s = 1; s <= rule.states.size(); ++s) states.push_back(state[s * parameters + p]);
    reference::update(rule.kind, state[p], states, step.gradients[p], kScalars);
    for (std::size_t s = 1; s <= rule.states.size(); ++s) state[s * parameters + p] = states[s - 1];
  }
}

run::Weights twin(const UpdateRule& rule) {
  run::Weights state = beginning(rule);
  for (int step = 0; step < kSteps; ++step) twin_step(rule, state);
  return state;
}

run::Weights trained(const UpdateRule& rule, run::Crew& crew, const program::exchange::Kind* sharded) {
  std::vector<program::Program> programs;
  for (int d = 0; d < crew.size(); ++d) {
    programs.push_back(program::compile_training(
        small_model(), {.rule = rule.kind, .shard_optimizer = sharded, .device = d, .devices = crew.size()}));
  }
  run::Runner runner(
      crew, std::move(programs),
      {.most_examples = kExamples, .exchange = sharded, .shard_optimizer = sharded != nullptr});
  runner.upload(run::with_numbers(runner.state(), beginning(rule)));
  for (int step = 0; step < kSteps; ++step)
    EXPECT_TRUE(runner.step({{kSet.pixels.data(), kSet.labels.data(), kSet.order}, kScalars}).finite);
  return run::numbers_of(runner.state());
}

class UpdateRules : public testing::TestWithParam<UpdateRule> {
 protected:
  static void TearDownTestSuite() {
    for (GpuKind& kind : gpu_kinds()) kind.devices.clear();
  }
};

TEST_P(UpdateRules, NamesItselfAndItsStates) {
  EXPECT_FALSE(GetParam().name.empty());
  EXPECT_EQ(std::ranges::count(arithmetic::kUpdateRules, GetParam().name, &UpdateRule::name), 1);
  // A name becomes a part of names in files and programs, where ':' and '.' divide it from others.
  std::set<std::string_view> names{"weight", "bias"};
  for (const std::string_view state : GetParam().states) {
    EXPECT_TRUE(names.insert(state).second) << state;
    EXPECT_FALSE(state.empty());
    EXPECT_EQ(state.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << state;
  }
}

TEST_P(UpdateRules, HasAStateTensorForEveryStateOfEveryParameter) {
  const std::vector<model::Parameter> parameters = model::parameters_of(small_model());
  std::vector<std::string> expected, found;
  for (const model::Parameter& parameter : parameters) expected.push_back(parameter.name);
  for (const std::string_view state : GetParam().states) {
    for (const model::Parameter& parameter : parameters)
      expected.push_back(parameter.name + "." + std::string(state));
  }
  for (const run::NamedTensor& tensor : run::numbered_state(small_model(), GetParam().kind))
    found.push_back(tensor.name);
  EXPECT_EQ(found, expected);
}

TEST_P(UpdateRules, HasATwinThatChangesEveryTensor) {
  const run::Weights before = beginning(GetParam()), after = twin(GetParam());
  for (std::size_t t = 0; t < before.size(); ++t) EXPECT_NE(after[t], before[t]) << t;
}

TEST_P(UpdateRules, HasAKernelForEveryInstructionSet) {
  const run::Weights expected = twin(GetParam());
  for (const cpu::Kernels* kernels : cpu::usable_kernels()) {
    const auto device = cpu::make_cpu_device({.threads = 2, .target = std::string(kernels->name)});
    run::Crew crew({device.get()});
    EXPECT_THAT(trained(GetParam(), crew, nullptr), SameBits(expected)) << kernels->name;
  }
}

TEST_P(UpdateRules, HasAGpuKernel) {
  const run::Weights expected = twin(GetParam());
  for (const GpuKind& kind : gpu_kinds()) {
    if (kind.devices.empty()) continue;
    run::Crew crew({kind.devices.front().get()});
    EXPECT_THAT(trained(GetParam(), crew, nullptr), SameBits(expected)) << kind.name;
  }
}

TEST_P(UpdateRules, UpdatesAPartAtItsOwner) {
  const run::Weights expected = twin(GetParam());
  for (const program::exchange::Kind& kind : program::exchange::kinds()) {
    run::Crew crew(cpu::make_cpu_devices({.names = {"cpu:0", "cpu:1", "cpu:2"}, .threads = 1, .bind = false}),
                   {.share_cores = true});
    EXPECT_THAT(trained(GetParam(), crew, &kind), SameBits(expected)) << kind.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, UpdateRules, testing::ValuesIn(arithmetic::kUpdateRules),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace lockstep
