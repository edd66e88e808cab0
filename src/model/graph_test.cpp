// Models that are graphs: which values layers take, and what is refused.
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/model.h"

namespace lockstep::model {
namespace {

Conv2d same_size(int channels) { return {.out_channels = channels, .kernel = {3, 3}, .padding = {1, 1}}; }

Model graph(std::vector<Layer> layers) {
  return {.name = "graph", .input = {2, 5, 5}, .layers = std::move(layers)};
}

std::string fault_of(std::vector<Layer> layers) {
  try {
    infer_shapes(graph(std::move(layers)));
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "no error";
}

TEST(Graph, ALayerThatNamesNoInputTakesTheLayerBefore) {
  const Model chain = graph({{"relu1", Relu{}}, {"flatten1", Flatten{}}, {"linear1", Linear{3}}});
  EXPECT_EQ(inputs_of(chain), (std::vector<std::vector<int>>{{0}, {1}, {2}}));
}

TEST(Graph, LayersNameTheirInputs) {
  const Model residual = graph({{"conv1", same_size(4)},
                                {"conv2", same_size(4)},
                                {"shortcut", Conv2d{.out_channels = 4, .kernel = {1, 1}}, {"input"}},
                                {"add1", Add{}, {"conv2", "shortcut"}},
                                {"add2", Add{}, {"add1", "conv1"}},
                                {"flatten1", Flatten{}}});
  EXPECT_EQ(inputs_of(residual), (std::vector<std::vector<int>>{{0}, {1}, {0}, {2, 3}, {4, 1}, {5}}));
  const Shape image{4, 5, 5};
  EXPECT_EQ(infer_shapes(residual),
            (std::vector<Shape>{{2, 5, 5}, image, image, image, image, image, {100}}));
}

TEST(Graph, ParametersFollowTheShapeOfTheNamedInput) {
  const Model model = graph({{"conv1", same_size(7)},
                             {"conv2", same_size(3), {"input"}},
                             {"conv3", same_size(3), {"conv1"}},
                             {"add1", Add{}, {"conv2", "conv3"}},
                             {"flatten1", Flatten{}}});
  const std::vector<Parameter> parameters = parameters_of(model);
  ASSERT_EQ(parameters.size(), 6U);
  EXPECT_EQ(parameters[2].shape, (std::vector<std::int64_t>{3, 2, 3, 3}));
  EXPECT_EQ(parameters[4].shape, (std::vector<std::int64_t>{3, 7, 3, 3}));
}

TEST(Graph, AddTakesTwoValuesOfOneShape) {
  EXPECT_EQ(fault_of({{"conv1", same_size(4)}, {"add1", Add{}, {"input", "conv1"}}}),
            "layer add1 adds two values of the same shape, got 2x5x5 from the input and 4x5x5 from conv1");
  EXPECT_EQ(fault_of({{"relu1", Relu{}}, {"add1", Add{}}}),
            "layer add1 takes 2 inputs, got 1: 2x5x5 from relu1");
  EXPECT_EQ(fault_of({{"relu1", Relu{}}, {"relu2", Relu{}, {"input", "relu1"}}}),
            "layer relu2 takes 1 input, got 2: 2x5x5 from the input and 2x5x5 from relu1");
}

TEST(Graph, RefusesANameThatIsNoLayers) {
  EXPECT_EQ(fault_of({{"relu1", Relu{}}, {"add1", Add{}, {"input", "relu2"}}}),
            "layer add1 takes its input from 'relu2', which names no layer; did you mean 'relu1'?");
  EXPECT_EQ(
      fault_of({{"input", Relu{}}}),
      "model graph: layer number 1 is named input, which names the model's input; give it another name");
}

TEST(Graph, RefusesLayersInTheWrongOrder) {
  EXPECT_EQ(fault_of({{"add1", Add{}, {"input", "relu1"}}, {"relu1", Relu{}, {"input"}}}),
            "layer add1 takes its input from relu1, which stands behind it; move it before");
}

TEST(Graph, RefusesCycles) {
  EXPECT_EQ(fault_of({{"add1", Add{}, {"input", "relu2"}}, {"relu1", Relu{}}, {"relu2", Relu{}}}),
            "layer add1 takes its input from relu2, which takes its own input from add1: the layers "
            "form a cycle; take one of these inputs away");
  EXPECT_EQ(fault_of({{"add1", Add{}, {"input", "add1"}}}),
            "layer add1 takes its input from add1, which takes its own input from add1: the layers "
            "form a cycle; take one of these inputs away");
}

TEST(Graph, RefusesALayerThatReachesNoLoss) {
  EXPECT_EQ(
      fault_of({{"conv1", same_size(4)},
                {"relu1", Relu{}},
                {"flatten1", Flatten{}, {"input"}},
                {"linear1", Linear{3}}}),
      "layer relu1 gives 4x5x5 from 4x5x5 from conv1, but no layer takes it and it reaches no loss; name "
      "relu1 among the inputs of a layer behind it, or remove it");
}

}  // namespace
}  // namespace lockstep::model
