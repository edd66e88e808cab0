#include "model/zoo.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/refusal_for_test.h"

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

std::size_t trained_in(const Model& model) {
  std::size_t sum = 0;
  for (const Parameter& parameter : parameters_of(model))
    if (parameter.trained()) sum += parameter.elements();
  return sum;
}

// By name of the layers whose shapes are asked for.
std::vector<Shape> shapes_at(const Model& model, const std::vector<std::string>& names) {
  const std::vector<Shape> shapes = infer_shapes(model);
  std::vector<Shape> found;
  found.reserve(names.size());
  for (const std::string& name : names) {
    const auto layer = std::ranges::find(model.layers, name, &Layer::name);
    EXPECT_NE(layer, model.layers.end()) << name;
    found.push_back(shapes.at(static_cast<std::size_t>(layer - model.layers.begin()) + 1));
  }
  return found;
}

TEST(Zoo, Resnet18IsTheBooks) {
  const Model model = resnet18();
  EXPECT_EQ(trained_in(model), 11'175'818u);
  EXPECT_EQ(count(model) - trained_in(model), 2u * (5 * 64 + 4 * (128 + 256 + 512))) << "running statistics";
  EXPECT_EQ(
      shapes_at(model, {"2", "resnet_block1.1.relu2", "resnet_block2.1.relu2", "resnet_block3.1.relu2",
                        "resnet_block4.1.relu2", "global_avg_pool", "fc.1"}),
      (std::vector<Shape>{{64, 28, 28}, {64, 28, 28}, {128, 14, 14}, {256, 7, 7}, {512, 4, 4}, {512}, {10}}));
}

TEST(Zoo, Resnet18sBlocksAddWhatTheyTake) {
  std::vector<std::vector<std::string>> addends;
  for (const Layer& layer : resnet18().layers)
    if (std::holds_alternative<Add>(layer.kind)) addends.push_back(layer.inputs);
  EXPECT_EQ(addends,
            (std::vector<std::vector<std::string>>{{"resnet_block1.0.bn2", "2"},
                                                   {"resnet_block1.1.bn2", "resnet_block1.0.relu2"},
                                                   {"resnet_block2.0.bn2", "resnet_block2.0.conv3"},
                                                   {"resnet_block2.1.bn2", "resnet_block2.0.relu2"},
                                                   {"resnet_block3.0.bn2", "resnet_block3.0.conv3"},
                                                   {"resnet_block3.1.bn2", "resnet_block3.0.relu2"},
                                                   {"resnet_block4.0.bn2", "resnet_block4.0.conv3"},
                                                   {"resnet_block4.1.bn2", "resnet_block4.0.relu2"}}));
}

TEST(Zoo, Resnet18StartsFromTheBooksValues) {
  for (const Parameter& parameter : parameters_of(resnet18())) {
    if (parameter.role != ParameterRole::weight) continue;
    const auto* const normal = std::get_if<Normal>(&parameter.initial);
    ASSERT_NE(normal, nullptr) << parameter.name;
    EXPECT_EQ(normal->sigma, 0.01) << parameter.name;
  }
}

// 2 * (48 * 5 * 5 + 1) * 128 and so on: a group's outputs take its own inputs alone.
TEST(Zoo, AlexnetHasTheTwoGroupsOfTheOriginal) {
  const Model model = alexnet();
  EXPECT_EQ(shapes_at(model, {"conv1", "pool1", "conv2", "pool2", "conv5", "pool3", "flatten1", "linear3"}),
            (std::vector<Shape>{
                {96, 15, 15}, {96, 7, 7}, {256, 7, 7}, {256, 3, 3}, {256, 3, 3}, {256}, {256}, {10}}));
  std::vector<std::string> grouped;
  for (const Layer& layer : model.layers) {
    const auto* const conv = std::get_if<Conv2d>(&layer.kind);
    if (conv != nullptr && conv->groups == 2) grouped.push_back(layer.name);
  }
  EXPECT_EQ(grouped, (std::vector<std::string>{"conv2", "conv4", "conv5"}));
  EXPECT_EQ(trained_in(model), 96u * (3 * 121 + 1) + 256u * (48 * 25 + 1) + 384u * (256 * 9 + 1) +
                                   384u * (192 * 9 + 1) + 256u * (192 * 9 + 1) + 4096u * 257 + 4096u * 4097 +
                                   10u * 4097);
}

TEST(Zoo, AlexnetIsTheOriginalsSizeAt224) {
  const Model model = alexnet({{3, 224, 224}, 1000});
  EXPECT_EQ(shapes_at(model, {"conv1", "pool1", "pool2", "pool3", "linear3"}),
            (std::vector<Shape>{{96, 55, 55}, {96, 27, 27}, {256, 13, 13}, {256, 6, 6}, {1000}}));
  EXPECT_EQ(trained_in(model), 60'965'224u);  // Krizhevsky's, in Caffe
}

TEST(Zoo, Vgg11HalvesThePictureFiveTimes) {
  const Model model = vgg11();
  EXPECT_EQ(
      shapes_at(model, {"conv1", "pool1", "pool2", "conv4", "pool3", "pool4", "conv8", "pool5", "linear3"}),
      (std::vector<Shape>{{64, 32, 32},
                          {64, 16, 16},
                          {128, 8, 8},
                          {256, 8, 8},
                          {256, 4, 4},
                          {512, 2, 2},
                          {512, 2, 2},
                          {512},
                          {10}}));
  EXPECT_EQ(trained_in(vgg11({{3, 224, 224}, 1000})), 132'863'336u);  // torchvision's vgg11
}

TEST(Zoo, DeepChainsStartFromXaviersValues) {
  for (const Model& model : {alexnet(), vgg11()}) {
    for (const Parameter& parameter : parameters_of(model))
      if (parameter.role == ParameterRole::weight) {
        EXPECT_TRUE(std::holds_alternative<XavierUniform>(parameter.initial)) << parameter.name;
      }
  }
}

TEST(Zoo, GivesEveryModelItNames) {
  EXPECT_EQ(zoo_names(),
            (std::vector<std::string>{"lenet", "mlp", "resnet8", "resnet18", "alexnet", "vgg11"}));
  for (const std::string& name : zoo_names()) EXPECT_EQ(zoo_model(name).name, name);
  EXPECT_EQ(zoo_text(), "lenet (default), mlp, resnet8, resnet18, alexnet or vgg11");
}

TEST(Zoo, EveryModelTakesChannelsSizesAndClasses) {
  for (const std::string& name : zoo_names()) {
    const Model model = zoo_model(name, {{2, 70, 65}, 7});
    EXPECT_EQ(model.input, (Shape{2, 70, 65})) << name;
    EXPECT_EQ(classes_of(model), 7) << name;
  }
}

TEST(Zoo, KnowsTheSmallestPictures) {
  std::vector<int> sides;
  sides.reserve(zoo_names().size());
  for (const std::string& name : zoo_names()) {
    const int side = sides.emplace_back(least_side(name));
    EXPECT_EQ(classes_of(zoo_model(name, {{3, side, side}})), 10) << name;
    if (side == 1) continue;
    EXPECT_THROW(zoo_model(name, {{3, side - 1, side}}), Error) << name;
    EXPECT_THROW(zoo_model(name, {{3, side, side - 1}}), Error) << name;
  }
  EXPECT_EQ(sides, (std::vector<int>{14, 1, 1, 1, 63, 32}));
}

TEST(Zoo, SaysWhichPicturesAreTooSmall) {
  EXPECT_EQ(refusal_of(Fault::usage,
                       [] {
                         zoo_model("vgg11", {{1, 28, 28}});
                       }),
            "model vgg11 takes pictures of 32x32 or more, found 1x28x28: layer pool5 has a window of "
            "2x2 that is larger than its input 512x1x1 from relu8 with padding 0x0");
  EXPECT_EQ(refusal_of(Fault::usage,
                       [] {
                         zoo_model("lenet", {{3, 14, 13}});
                       }),
            "model lenet takes pictures of 14x14 or more, found 3x14x13: layer pool2 has a "
            "window of 2x2 "
            "that is larger than its input 50x2x1 from relu2 with padding 0x0");
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
