#include "model/zoo.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace lockstep::model {
namespace {

std::size_t count(const Model& model) {
  std::size_t sum = 0;
  for (const Parameter& parameter : parameters_of(model)) sum += parameter.elements();
  return sum;
}

TEST(Zoo, LenetIsTheBooks) {
  EXPECT_EQ(infer_shapes(lenet()), (std::vector<Shape>{{1, 28, 28},
                                                       {20, 26, 26},
                                                       {20, 26, 26},
                                                       {20, 13, 13},
                                                       {50, 9, 9},
                                                       {50, 9, 9},
                                                       {50, 4, 4},
                                                       {800},
                                                       {128},
                                                       {128},
                                                       {10}}));
  EXPECT_EQ(count(lenet()), 129'068u);
  EXPECT_EQ(classes_of(lenet()), 10);
  EXPECT_EQ(lenet().sigma, 0.01);
}

TEST(Zoo, MlpIsTheBooks) {
  EXPECT_EQ(infer_shapes(mlp()), (std::vector<Shape>{{1, 28, 28}, {784}, {256}, {256}, {10}}));
  EXPECT_EQ(count(mlp()), 784u * 256 + 256 + 256 * 10 + 10);
}

TEST(Zoo, Resnet8HalvesThePictureTwice) {
  const Model model = resnet8();
  const std::vector<Shape> shapes = infer_shapes(model);
  std::vector<std::pair<std::string, Shape>> ends;
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    const std::string& name = model.layers[layer].name;
    if (name.ends_with("_relu2") || name == "relu1" || name == "linear1")
      ends.emplace_back(name, shapes[layer + 1]);
  }
  EXPECT_EQ(ends, (std::vector<std::pair<std::string, Shape>>{{"relu1", {16, 28, 28}},
                                                              {"block1_relu2", {16, 28, 28}},
                                                              {"block2_relu2", {32, 14, 14}},
                                                              {"block3_relu2", {64, 7, 7}},
                                                              {"linear1", {10}}}));
}

TEST(Zoo, Resnet8sBlocksAddWhatTheyTake) {
  std::vector<std::vector<std::string>> addends;
  for (const Layer& layer : resnet8().layers)
    if (std::holds_alternative<Add>(layer.kind)) addends.push_back(layer.inputs);
  EXPECT_EQ(addends, (std::vector<std::vector<std::string>>{{"block1_norm2", "relu1"},
                                                            {"block2_norm2", "block2_shortcut"},
                                                            {"block3_norm2", "block3_shortcut"}}));
}

TEST(Zoo, Resnet8HasABiasWhereNoNormFollows) {
  std::size_t trained = 0;
  std::vector<std::string> biases;
  for (const Parameter& parameter : parameters_of(resnet8())) {
    if (parameter.trained()) trained += parameter.elements();
    if (parameter.role == ParameterRole::bias && parameter.name.find("norm") == std::string::npos)
      biases.push_back(parameter.name);
    if (parameter.role == ParameterRole::weight) {
      EXPECT_TRUE(std::holds_alternative<KaimingUniform>(parameter.initial)) << parameter.name;
    }
  }
  EXPECT_EQ(biases,
            (std::vector<std::string>{"block2_shortcut.bias", "block3_shortcut.bias", "linear1.bias"}));
  EXPECT_EQ(trained, 77'658u);
  EXPECT_EQ(count(resnet8()) - trained, 2u * 240) << "running statistics";
}

TEST(Zoo, GivesEveryModelItNames) {
  EXPECT_EQ(zoo_names(), (std::vector<std::string>{"lenet", "mlp", "resnet8"}));
  for (const std::string& name : zoo_names()) EXPECT_EQ(zoo_model(name).name, name);
}

TEST(Zoo, SuggestsTheNearestName) {
  try {
    zoo_model("lenett");
    FAIL() << "a model that does not exist was given";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_EQ(std::string(error.what()), "there is no model named 'lenett'; did you mean 'lenet'?");
  }
}

}  // namespace
}  // namespace lockstep::model
