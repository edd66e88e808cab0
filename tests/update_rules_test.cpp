// Every update rule, with and without weight decay, against every place that must know it: state names, naive
// twin, CPU kernels, GPU kernels, and the update of a part by its owner. The list of rules is the law's
// table. A place that has no kernel or twin for a rule does not compile; one that has a wrong kernel or twin
// fails here.
#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "arithmetic/step_scalars.h"
#include "base/same_bits_for_test.h"
#include "cpu/cpu_device.h"
#include "cpu/kernels.h"
#include "gpu_devices_for_test.h"
#include "program/compile.h"
#include "reference/step.h"
#include "reference/update.h"
#include "reference/update_scalars.h"
#include "run/runner.h"
#include "run/state_for_test.h"

namespace lockstep {
namespace {

using arithmetic::UpdateRule;
using reference::Tensor;

constexpr int kSteps = 3;
constexpr std::size_t kExamples = 37;

struct RuleCase {
  UpdateRule rule;
  double decay = 0;
};

std::vector<RuleCase> rule_cases() {
  std::vector<RuleCase> cases;
  for (const UpdateRule& rule : arithmetic::kUpdateRules) {
    for (const double decay : {0.0, 0.05}) cases.push_back({rule, decay});
  }
  return cases;
}

// The rate changes from step to step.
reference::UpdateOptions options_of(const RuleCase& c) {
  return {.optimizer = {.kind = c.rule.kind,
                        .momentum = c.rule.takes_momentum ? 0.9f : 0.0f,
                        .weight_decay = c.decay},
          .schedule = {.kind = arithmetic::ScheduleKind::cosine, .warmup = 1},
          .learning_rate = c.rule.takes_betas ? 0.01f : 0.1f,
          .steps_per_epoch = kSteps,
          .epochs = 2};
}

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

void twin_step(const RuleCase& c, run::Weights& state, int step) {
  std::vector<float> images;
  for (const std::uint8_t pixel : kSet.pixels) images.push_back(static_cast<float>(pixel) / 255.0f);
  const std::vector<model::Parameter> parameters = model::parameters_of(small_model());
  const std::size_t count = parameters.size();
  const std::vector<Tensor> gradients =
      reference::train_step(small_model(), std::span(state).first(count), {images, kSet.labels}, 0).gradients;
  for (std::size_t p = 0; p < count; ++p) {
    std::vector<Tensor> states;
    for (std::size_t s = 1; s <= c.rule.states.size(); ++s) states.push_back(state[s * count + p]);
    reference::update(
        c.rule.kind, state[p], states, gradients[p],
        reference::scalars_for(small_model(), parameters[p], reference::update_scalars(options_of(c), step)));
    for (std::size_t s = 1; s <= c.rule.states.size(); ++s) state[s * count + p] = states[s - 1];
  }
}

run::Weights twin(const RuleCase& c) {
  run::Weights state = beginning(c.rule);
  for (int step = 1; step <= kSteps; ++step) twin_step(c, state, step);
  return state;
}

run::Weights trained(const RuleCase& c, run::Crew& crew, const program::exchange::Kind* sharded) {
  run::Runner runner(
      crew,
      run::data_parallel(program::compile_training(small_model(), {.rule = c.rule.kind}),
                         run::plan_for(crew, {.exchange = sharded, .shard_optimizer = sharded != nullptr})),
      {.most_examples = kExamples});
  runner.upload(run::with_numbers(runner.state(), beginning(c.rule)));
  const reference::UpdateOptions options = options_of(c);
  arithmetic::StepScalars scalars(options.optimizer, options.schedule, options.learning_rate,
                                  {options.steps_per_epoch, options.epochs});
  for (int step = 1; step <= kSteps; ++step)
    EXPECT_TRUE(runner.step({{kSet.pixels.data(), kSet.labels.data(), kSet.order}, scalars.at(step)}).finite);
  return run::numbers_of(runner.state());
}

class UpdateRules : public testing::TestWithParam<RuleCase> {
 protected:
  static void TearDownTestSuite() {
    for (GpuKind& kind : gpu_kinds()) kind.devices.clear();
  }
};

TEST_P(UpdateRules, NamesItselfAndItsStates) {
  const UpdateRule& rule = GetParam().rule;
  EXPECT_FALSE(rule.name.empty());
  EXPECT_EQ(std::ranges::count(arithmetic::kUpdateRules, rule.name, &UpdateRule::name), 1);
  // A name becomes a part of names in files and programs, where ':' and '.' divide it from others.
  std::set<std::string_view> names{"weight", "bias"};
  for (const std::string_view state : rule.states) {
    EXPECT_TRUE(names.insert(state).second) << state;
    EXPECT_FALSE(state.empty());
    EXPECT_EQ(state.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << state;
  }
}

TEST_P(UpdateRules, HasAStateTensorForEveryStateOfEveryParameter) {
  const std::vector<model::Parameter> parameters = model::parameters_of(small_model());
  std::vector<std::string> expected, found;
  for (const model::Parameter& parameter : parameters) expected.push_back(parameter.name);
  for (const std::string_view state : GetParam().rule.states) {
    for (const model::Parameter& parameter : parameters)
      expected.push_back(parameter.name + "." + std::string(state));
  }
  for (const run::NamedTensor& tensor : run::numbered_state(small_model(), GetParam().rule.kind))
    found.push_back(tensor.name);
  EXPECT_EQ(found, expected);
}

TEST_P(UpdateRules, HasATwinThatChangesEveryTensor) {
  const run::Weights before = beginning(GetParam().rule), after = twin(GetParam());
  for (std::size_t t = 0; t < before.size(); ++t) EXPECT_NE(after[t], before[t]) << t;
}

// Conv1.weight and linear1.weight decay. Their biases do not: after one step they are those without decay.
TEST_P(UpdateRules, HasATwinThatDecaysWeightsAlone) {
  RuleCase without = GetParam();
  without.decay = 0;
  run::Weights plain = beginning(GetParam().rule), decayed = plain;
  twin_step(without, plain, 1);
  twin_step(GetParam(), decayed, 1);
  const std::vector<model::Parameter> parameters = model::parameters_of(small_model());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const bool expected = GetParam().decay != 0 && parameters[p].role == model::Parameter::Role::weight;
    EXPECT_EQ(decayed[p] != plain[p], expected) << parameters[p].name;
  }
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

INSTANTIATE_TEST_SUITE_P(All, UpdateRules, testing::ValuesIn(rule_cases()), [](const auto& instance) {
  return std::string(instance.param.rule.name) + (instance.param.decay != 0 ? "_with_decay" : "");
});

}  // namespace
}  // namespace lockstep
