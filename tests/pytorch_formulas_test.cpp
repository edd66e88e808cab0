// The optimizers and schedules against PyTorch's formulas in double: tests/known_answers/pytorch.py is
// written from PyTorch's documentation and shares no line with the library. Its table has given gradients and
// the weights after each of 20 steps.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "arithmetic/step_scalars.h"
#include "cpu/update.h"

namespace lockstep {
namespace {

constexpr double kRelative = 1e-5;

struct GivenStep {
  std::vector<float> gradient;
  std::vector<double> weights;  // after it
};

struct GivenCase {
  std::string name;
  arithmetic::Optimizer optimizer;
  arithmetic::Schedule schedule;
  float learning_rate = 0;
  arithmetic::TrainingLength length;
  std::vector<float> start;
  std::vector<GivenStep> steps;
};

std::ostream& operator<<(std::ostream& out, const GivenCase& c) { return out << c.name; }

GivenCase read_case(std::istream& words, const arithmetic::TrainingLength& length) {
  GivenCase c;
  c.length = length;
  std::string optimizer, schedule;
  words >> c.name >> optimizer >> c.learning_rate >> c.optimizer.momentum >> c.optimizer.weight_decay >>
      c.optimizer.beta1 >> c.optimizer.beta2 >> c.optimizer.eps >> schedule >> c.schedule.step_epochs >>
      c.schedule.step_factor >> c.schedule.lr_min >> c.schedule.warmup;
  EXPECT_TRUE(words) << c.name;
  c.optimizer.kind = arithmetic::update_kind_named(optimizer).value();
  c.schedule.kind = arithmetic::schedule_kind_named(schedule).value();
  return c;
}

template <class Number>
std::vector<Number> read_numbers(std::istream& words, std::size_t count) {
  std::vector<Number> numbers(count);
  for (Number& number : numbers) words >> number;
  EXPECT_TRUE(words);
  return numbers;
}

std::vector<GivenCase> given_cases() {
  constexpr std::size_t kWeights = 5;
  std::ifstream file(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/known_answers/optimizers.txt");
  std::vector<GivenCase> cases;
  arithmetic::TrainingLength length;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "length") words >> length.steps_per_epoch >> length.epochs;
    if (kind == "case") cases.push_back(read_case(words, length));
    if (kind == "start") cases.back().start = read_numbers<float>(words, kWeights);
    if (kind == "step") {
      std::vector<float> gradient = read_numbers<float>(words, kWeights);
      cases.back().steps.push_back({std::move(gradient), read_numbers<double>(words, kWeights)});
    }
  }
  return cases;
}

class PyTorchFormulas : public testing::TestWithParam<GivenCase> {};

TEST_P(PyTorchFormulas, GiveTheSameWeightsInTwentySteps) {
  const GivenCase& given = GetParam();
  ASSERT_EQ(given.steps.size(), 20U);
  for (const cpu::Kernels* kernels : cpu::usable_kernels()) {
    arithmetic::StepScalars scalars(given.optimizer, given.schedule, given.learning_rate, given.length);
    std::vector<float> weights = given.start;
    std::vector<std::vector<float>> states(arithmetic::kMostStates, std::vector<float>(weights.size()));
    std::int64_t step = 0;
    for (const GivenStep& expected : given.steps) {
      cpu::UpdateOperands operands{
          .weights = weights.data(), .gradient = expected.gradient.data(), .count = weights.size()};
      for (std::size_t s = 0; s < states.size(); ++s) operands.states[s] = states[s].data();
      cpu::update(*kernels, given.optimizer.kind, operands, scalars.at(++step));
      for (std::size_t i = 0; i < weights.size(); ++i)
        ASSERT_NEAR(weights[i], expected.weights[i], kRelative * std::abs(expected.weights[i]))
            << kernels->name << ", step " << step << ", weight " << i;
    }
  }
}

TEST(PyTorchFormulasTable, HasEveryOptimizerAndSchedule) {
  const std::vector<GivenCase> cases = given_cases();
  for (const arithmetic::UpdateRule& rule : arithmetic::kUpdateRules) {
    for (const bool decays : {false, true}) {
      const auto has = [&](const GivenCase& c) {
        return c.optimizer.kind == rule.kind && (c.optimizer.weight_decay > 0) == decays;
      };
      EXPECT_TRUE(std::ranges::any_of(cases, has)) << rule.name;
    }
  }
  for (const std::string& name : arithmetic::schedule_kind_names()) {
    const auto has = [&](const GivenCase& c) { return arithmetic::name_of(c.schedule.kind) == name; };
    EXPECT_TRUE(std::ranges::any_of(cases, has)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, PyTorchFormulas, testing::ValuesIn(given_cases()), [](const auto& instance) {
  std::string name = instance.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace lockstep
