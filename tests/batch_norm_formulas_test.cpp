// The naive twin of batch norm against the formulas of its inventors and of PyTorch in double:
// tests/known_answers/batch_norm.py shares no line with the library. The kernels are held against the twin.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/batch_norm.h"

namespace lockstep {
namespace {

constexpr double kNear = 1e-5;  // relative where a number is above 1, else absolute

struct NormCase {
  std::string name;
  int examples = 0;
  reference::BatchNormShape shape;
  float momentum = 0;
  std::map<std::string, std::vector<double>> numbers;  // by their name in the table

  // As the twin takes numbers of a channel or of an element.
  std::vector<float> given(const std::string& what) const {
    const std::vector<double>& values = numbers.at(what);
    return {values.begin(), values.end()};
  }
  std::vector<float> given_by_example(const std::string& what) const {
    const std::vector<double> values = by_example(what);
    return {values.begin(), values.end()};
  }

  // The table has [channel][example][position]; the twin has [example][channel][position].
  std::vector<double> by_example(const std::string& what) const {
    const auto channels = static_cast<std::size_t>(shape.channels);
    const auto positions = static_cast<std::size_t>(shape.width);
    const auto count = static_cast<std::size_t>(examples);
    const std::vector<double>& values = numbers.at(what);
    EXPECT_EQ(values.size(), channels * positions * count) << what;
    std::vector<double> sorted(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t channel = i / (count * positions), example = i / positions % count;
      sorted[(example * channels + channel) * positions + i % positions] = values[i];
    }
    return sorted;
  }
};

std::ostream& operator<<(std::ostream& out, const NormCase& c) { return out << c.name; }

std::vector<NormCase> norm_cases() {
  std::ifstream file(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/known_answers/batch_norm.txt");
  std::vector<NormCase> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "case") {
      NormCase& c = cases.emplace_back();
      words >> c.name >> c.examples >> c.shape.channels >> c.shape.width >> c.shape.ghost >> c.shape.eps >>
          c.momentum;
      EXPECT_TRUE(words) << line;
    } else {
      std::vector<double>& numbers = cases.back().numbers[kind];
      for (double number = 0; words >> number;) numbers.push_back(number);
    }
  }
  return cases;
}

void expect_near(const std::vector<float>& found, const std::vector<double>& expected, const char* what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], kNear * std::max(1.0, std::abs(expected[i]))) << what << " at " << i;
}

class BatchNormFormulas : public testing::TestWithParam<NormCase> {};

TEST_P(BatchNormFormulas, GiveWhatTheTwinGives) {
  const NormCase& c = GetParam();
  const std::vector<float> gamma = c.given("gamma"), beta = c.given("beta");
  const std::vector<float> x = c.given_by_example("x"), dy = c.given_by_example("dy");
  std::vector<float> mean = c.given("running_mean"), variance = c.given("running_var");
  reference::update_running_statistics(c.shape, c.examples, x, c.momentum, {mean, variance});

  expect_near(reference::batch_norm_forward(c.shape, c.examples, x, {gamma, beta}), c.by_example("answer_y"),
              "y");
  expect_near(reference::batch_norm_input_gradient(c.shape, c.examples, x, dy, gamma),
              c.by_example("answer_dx"), "dx");
  expect_near(reference::batch_norm_scale_gradient(c.shape, c.examples, x, dy), c.numbers.at("answer_dgamma"),
              "dgamma");
  expect_near(reference::batch_norm_bias_gradient(c.shape, c.examples, dy), c.numbers.at("answer_dbeta"),
              "dbeta");
  expect_near(mean, c.numbers.at("answer_running_mean"), "running mean");
  expect_near(variance, c.numbers.at("answer_running_var"), "running variance");
  expect_near(reference::batch_norm_evaluation(c.shape, c.examples, x, {gamma, beta}, {mean, variance}),
              c.by_example("answer_evaluation"), "evaluation");
}

INSTANTIATE_TEST_SUITE_P(Cases, BatchNormFormulas, testing::ValuesIn(norm_cases()), [](const auto& instance) {
  std::string name = instance.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace lockstep
