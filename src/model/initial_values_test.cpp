#include "model/initial_values.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "arithmetic/initial_weights.h"
#include "base/random.h"
#include "base/same_bits_for_test.h"
#include "model/zoo.h"

namespace lockstep::model {
namespace {

std::vector<float> values_of(const Parameter& parameter, std::uint64_t seed = 3) {
  std::vector<float> values(parameter.elements());
  fill_initial(parameter, seed, values);
  return values;
}

std::vector<Parameter> parameters_with(const std::optional<InitialValues>& weight,
                                       const std::optional<InitialValues>& bias) {
  return parameters_of(
      {.name = "m",
       .input = {3, 4, 4},
       .layers = {
           {"conv1",
            Conv2d{.out_channels = 50, .kernel = {3, 2}, .initial_weight = weight, .initial_bias = bias}},
           {"flatten1", Flatten{}}}});
}

TEST(InitialValues, AreNormalWeightsAndZeroBiasesWhereNothingIsNamed) {
  Model model = lenet();
  model.sigma = 0.25;
  for (const Parameter& parameter : parameters_of(model)) {
    std::vector<float> expected(parameter.elements(), 0.0f);
    if (parameter.role == Parameter::Role::weight)
      arithmetic::fill_initial(expected, parameter.name, 3, 0.25f);
    EXPECT_THAT(values_of(parameter), SameBits(expected)) << parameter.name;
  }
}

TEST(InitialValues, KaimingFillsTheRangeOfTheFanIn) {
  const std::vector<Parameter> parameters = parameters_with(KaimingUniform{}, Constant{0.5f});
  EXPECT_EQ(parameters[0].fans.in, 18);
  EXPECT_EQ(parameters[0].fans.out, 300);
  const std::vector<float> values = values_of(parameters[0]);
  const auto bound = static_cast<float>(std::sqrt(6.0 / 18));
  EXPECT_LT(std::ranges::max(values), bound);
  EXPECT_GT(std::ranges::max(values), 0.99f * bound);
  EXPECT_GE(std::ranges::min(values), -bound);
  EXPECT_LT(std::ranges::min(values), -0.99f * bound);
  EXPECT_THAT(values_of(parameters[1]), SameBits(std::vector<float>(50, 0.5f)));
}

TEST(InitialValues, XavierTakesBothFans) {
  const std::vector<Parameter> parameters = parameters_with(XavierUniform{}, KaimingUniform{});
  const auto bound = static_cast<float>(std::sqrt(6.0 / 318));
  std::vector<float> expected(parameters[0].elements());
  arithmetic::fill_uniform(expected, "conv1.weight", 3, bound);
  EXPECT_THAT(values_of(parameters[0]), SameBits(expected));
  EXPECT_EQ(parameters[1].fans.in, 18) << "a bias counts the inputs of its outputs";
}

}  // namespace
}  // namespace lockstep::model
