#include <gtest/gtest.h>

#include "model/zoo.h"

namespace lockstep::model {
namespace {

TEST(Parameters, ComeInLayerOrderWeightBeforeBias) {
  struct Expected {
    std::string name;
    std::vector<std::int64_t> shape;
    int layer;
  };
  const std::vector<Expected> expected{{"conv1.weight", {20, 1, 3, 3}, 0},  {"conv1.bias", {20}, 0},
                                       {"conv2.weight", {50, 20, 5, 5}, 3}, {"conv2.bias", {50}, 3},
                                       {"linear1.weight", {128, 800}, 7},   {"linear1.bias", {128}, 7},
                                       {"linear2.weight", {10, 128}, 9},    {"linear2.bias", {10}, 9}};
  const std::vector<Parameter> parameters = parameters_of(lenet());
  ASSERT_EQ(parameters.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(parameters[i].name, expected[i].name);
    EXPECT_EQ(parameters[i].shape, expected[i].shape);
    EXPECT_EQ(parameters[i].layer, expected[i].layer);
    EXPECT_EQ(parameters[i].role, i % 2 == 0 ? Parameter::Role::weight : Parameter::Role::bias);
  }
}

TEST(Parameters, AreWeightsAloneWithoutABias) {
  Model model = lenet();
  std::get<Conv2d>(model.layers[3].kind).bias = false;
  std::get<Linear>(model.layers[7].kind).bias = false;
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters_of(model)) names.push_back(parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"conv1.weight", "conv1.bias", "conv2.weight", "linear1.weight",
                                             "linear2.weight", "linear2.bias"}));
}

TEST(Parameters, OfGroupsCountTheChannelsOfOneGroup) {
  const std::vector<Parameter> parameters = parameters_of(
      {.name = "m",
       .input = {6, 1, 1},
       .layers = {{"conv1", Conv2d{.out_channels = 15, .kernel = {3, 2}, .padding = {1, 1}, .groups = 3}},
                  {"flatten1", Flatten{}}}});
  EXPECT_EQ(parameters[0].shape, (std::vector<std::int64_t>{15, 2, 3, 2}));
  EXPECT_EQ(parameters[0].fans.in, 12);
  EXPECT_EQ(parameters[0].fans.out, 30);
  EXPECT_EQ(parameters[1].shape, (std::vector<std::int64_t>{15}));
}

TEST(Parameters, CountTheirElements) {
  EXPECT_EQ((Parameter{.name = "w", .shape = {50, 20, 5, 5}}.elements()), 25'000u);
}

}  // namespace
}  // namespace lockstep::model
