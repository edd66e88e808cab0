#include <gtest/gtest.h>
#include <lockstep/model.h>

#include "api/convert.h"
#include "base/error.h"
#include "model/text.h"
#include "model/zoo.h"
#include "program/compile.h"
#include "program/print.h"

namespace lockstep {
inline namespace api {
namespace {

std::string program_of(const model::Model& model) {
  return program::to_text(program::compile_training(model));
}

TEST(Model, GoesThroughThePublicTypesUnchanged) {
  for (const std::string& name : model::zoo_names()) {
    const model::Model before = model::zoo_model(name), after = to_inside(zoo_model(name));
    EXPECT_EQ(after.name, before.name);
    EXPECT_EQ(after.sigma, before.sigma);
    EXPECT_EQ(program_of(after), program_of(before));
  }
}

TEST(Model, KeepsEveryNumberOfALayer) {
  const Model model{.layers = {Conv2d{3, {5, 4}, {2, 1}, {1, 2}}, MaxPool{{3, 2}, {2, 1}, {1, 0}},
                               AvgPool{{2, 3}, {1, 2}, {0, 1}}, GlobalAvgPool{}, Flatten{}, Relu{}, Linear{7},
                               Dropout{0.3}, BatchNorm{32, 1e-3, 0.2}, Add{}}};
  const std::vector<model::Layer> layers = to_inside(model).layers;
  const auto& conv = std::get<model::Conv2d>(layers[0].kind);
  EXPECT_EQ(conv.out_channels, 3);
  EXPECT_EQ(conv.groups, 1);
  EXPECT_EQ(conv.kernel, (model::Extent{5, 4}));
  EXPECT_EQ(conv.stride, (model::Extent{2, 1}));
  EXPECT_EQ(conv.padding, (model::Extent{1, 2}));
  const auto& most = std::get<model::MaxPool>(layers[1].kind);
  EXPECT_EQ(most.window, (model::Extent{3, 2}));
  EXPECT_EQ(most.stride, (model::Extent{2, 1}));
  EXPECT_EQ(most.padding, (model::Extent{1, 0}));
  const auto& mean = std::get<model::AvgPool>(layers[2].kind);
  EXPECT_EQ(mean.window, (model::Extent{2, 3}));
  EXPECT_EQ(mean.stride, (model::Extent{1, 2}));
  EXPECT_EQ(mean.padding, (model::Extent{0, 1}));
  EXPECT_EQ(std::get<model::Linear>(layers[6].kind).out_units, 7);
  EXPECT_EQ(std::get<model::Dropout>(layers[7].kind).p, 0.3);
  const auto& norm = std::get<model::BatchNorm>(layers[8].kind);
  EXPECT_EQ(norm.ghost, 32);
  EXPECT_EQ(norm.eps, 1e-3);
  EXPECT_EQ(norm.momentum, 0.2);
  std::string names;
  for (const model::Layer& layer : layers) names += layer.name + ' ';
  EXPECT_EQ(names, "conv1 pool1 pool2 pool3 flatten1 relu1 linear1 dropout1 norm1 add1 ");
}

// The public kinds and those of the rooms meet by their place in their lists and by the order of their
// members.
TEST(Model, EveryKindBecomesItselfAgain) {
  const model::Model inside{
      .name = "all",
      .input = {3, 8, 8},
      .layers = {{"conv", model::Conv2d{3, {5, 4}, {2, 1}, {1, 2}, 3, false, model::KaimingUniform{}}},
                 {"linear", model::Linear{7, false, model::XavierUniform{}, model::Constant{2}}},
                 {"relu", model::Relu{}},
                 {"average", model::AvgPool{{2, 3}, {1, 2}, {0, 1}}},
                 {"maximum", model::MaxPool{{3, 2}, {2, 1}, {1, 0}}},
                 {"mean", model::GlobalAvgPool{}},
                 {"flatten", model::Flatten{}},
                 {"add", model::Add{}},
                 {"norm", model::BatchNorm{32, 1e-3, 0.2}},
                 {"dropout", model::Dropout{0.3}}}};
  EXPECT_EQ(inside.layers.size(), std::variant_size_v<model::LayerKind>);
  const Model outside = to_public(inside);
  EXPECT_FALSE(std::get<Conv2d>(outside.layers[0].kind).bias);
  EXPECT_EQ(std::get<Conv2d>(outside.layers[0].kind).stride.height, 2);
  EXPECT_TRUE(std::holds_alternative<AvgPool>(outside.layers[3].kind));
  EXPECT_TRUE(std::holds_alternative<MaxPool>(outside.layers[4].kind));
  EXPECT_EQ(std::get<BatchNorm>(outside.layers[8].kind).momentum, 0.2);
  const model::Model again = to_inside(outside);
  for (std::size_t i = 0; i < inside.layers.size(); ++i)
    EXPECT_EQ(model::text_of(again.layers[i].kind), model::text_of(inside.layers[i].kind));
}

TEST(Model, LayersNameTheirInputs) {
  const Conv2d same{.out_channels = 4, .kernel = {3, 3}, .padding = {1, 1}};
  const Model model{.layers = {Conv2d{.out_channels = 4, .kernel = {1, 1}},
                               Relu{},
                               same,
                               Relu{},
                               same,
                               {Add{}, {"relu1", "conv3"}},
                               {"last", Relu{}},
                               Flatten{},
                               Linear{10}}};
  const model::Model inside = to_inside(model);
  EXPECT_EQ(inside.layers[5].name, "add1");
  EXPECT_EQ(inside.layers[6].name, "last");
  EXPECT_EQ(model::inputs_of(inside)[5], (std::vector<int>{2, 5}));
  EXPECT_EQ(program_of(to_inside(to_public(inside))), program_of(inside));
}

TEST(Model, KeepsItsInitialValues) {
  const Model model{
      .layers = {Conv2d{.kernel = {3, 3}, .initial_weight = KaimingUniform{}, .initial_bias = Constant{0.5f}},
                 Flatten{},
                 Linear{.out_units = 4, .initial_weight = XavierUniform{}, .initial_bias = Normal{0.25}}}};
  for (const model::Model& inside : {to_inside(model), to_inside(to_public(to_inside(model)))}) {
    const std::vector<model::Parameter> parameters = model::parameters_of(inside);
    EXPECT_TRUE(std::holds_alternative<model::KaimingUniform>(parameters[0].initial));
    EXPECT_EQ(std::get<model::Constant>(parameters[1].initial).value, 0.5f);
    EXPECT_TRUE(std::holds_alternative<model::XavierUniform>(parameters[2].initial));
    EXPECT_EQ(std::get<model::Normal>(parameters[3].initial).sigma, 0.25);
  }
}

TEST(Model, LayersMayDoWithoutABias) {
  const Model model{.layers = {Conv2d{.out_channels = 4, .kernel = {3, 3}, .bias = false}, Flatten{},
                               Linear{.out_units = 4, .bias = false}}};
  for (const model::Model& inside : {to_inside(model), to_inside(to_public(to_inside(model)))}) {
    const std::vector<model::Parameter> parameters = model::parameters_of(inside);
    ASSERT_EQ(parameters.size(), 2u);
    EXPECT_EQ(parameters[0].name, "conv1.weight");
    EXPECT_EQ(parameters[1].name, "linear1.weight");
  }
}

TEST(Model, ConvolutionsKeepTheirGroups) {
  const Model model{.channels = 4,
                    .layers = {Conv2d{.out_channels = 6, .kernel = {3, 3}, .groups = 2}, Flatten{}}};
  for (const model::Model& inside : {to_inside(model), to_inside(to_public(to_inside(model)))})
    EXPECT_EQ(model::parameters_of(inside)[0].shape, (std::vector<std::int64_t>{6, 2, 3, 3}));
}

TEST(Model, RefusesAGraphThatDoesNotFit) {
  const Model model{.layers = {Conv2d{.out_channels = 4, .kernel = {3, 3}}, {Add{}, {"input", "conv1"}}}};
  try {
    static_cast<void>(model::infer_shapes(to_inside(model)));
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_STREQ(
        error.what(),
        "layer add1 adds two values of the same shape, got 1x28x28 from the input and 4x26x26 from conv1");
  }
}

TEST(Model, KeepsItsRuleForConvolutions) {
  for (const Convolution convolution : {Convolution::fast, Convolution::direct}) {
    Model model = lenet();
    model.convolution = convolution;
    EXPECT_EQ(to_public(to_inside(model)).convolution, convolution);
  }
  EXPECT_EQ(to_inside(Model{.convolution = Convolution::fast}).convolution,
            arithmetic::ConvolutionRule::fast);
}

TEST(Model, ThatSaysNothingOfConvolutionsHasTheDefault) {
  EXPECT_EQ(to_inside(Model{}).convolution, model::Model{}.convolution);
  EXPECT_EQ(to_inside(lenet()).convolution, model::lenet().convolution);
}

TEST(Model, OfTheZooIsMadeForItsPictures) {
  const Model model = zoo_model("resnet18", {.channels = 3, .height = 30, .width = 40, .classes = 100});
  EXPECT_EQ(to_inside(model).input, (model::Shape{3, 30, 40}));
  EXPECT_EQ(model::classes_of(to_inside(model)), 100);
  EXPECT_THROW(zoo_model("vgg11", {}), Error);
}

TEST(Model, UnknownNamesGetTheNearest) {
  try {
    zoo_model("lenot");
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find("lenet"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace api
}  // namespace lockstep
