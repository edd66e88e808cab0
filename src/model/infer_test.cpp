#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/model.h"

namespace lockstep::model {
namespace {

Model chain(Shape input, std::vector<Layer> layers) {
  return {.name = "chain", .input = input, .layers = std::move(layers)};
}

std::string fault_of(const Model& model) {
  try {
    infer_shapes(model);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "no error";
}

TEST(InferShapes, FollowsTheChain) {
  const auto shapes = infer_shapes(chain(
      {3, 8, 9}, {{"conv1", Conv2d{.out_channels = 4, .kernel = {3, 2}, .stride = {2, 3}, .padding = {1, 0}}},
                  {"relu1", Relu{}},
                  {"pool1", MaxPool{.window = {3, 2}, .stride = {2, 2}, .padding = {1, 1}}},
                  {"pool2", AvgPool{.window = {2, 2}, .stride = {2, 2}}},
                  {"flatten1", Flatten{}},
                  {"linear1", Linear{5}}}));
  EXPECT_EQ(shapes, (std::vector<Shape>{{3, 8, 9}, {4, 4, 3}, {4, 4, 3}, {4, 2, 2}, {4, 1, 1}, {4}, {5}}));
}

TEST(InferShapes, AllowsAKernelAsLargeAsThePaddedInput) {
  const auto shapes =
      infer_shapes(chain({1, 2, 2}, {{"c", Conv2d{.out_channels = 1, .kernel = {4, 4}, .padding = {1, 1}}}}));
  EXPECT_EQ(shapes.back(), (Shape{1, 1, 1}));
}

TEST(InferShapes, WantsAFlatInputForLinear) {
  EXPECT_EQ(fault_of(chain({50, 8, 8}, {{"pool2", AvgPool{.window = {2, 2}, .stride = {2, 2}}},
                                        {"linear1", Linear{10}}})),
            "layer linear1 takes a flat input, got 50x4x4 from pool2; put a flatten before it");
  EXPECT_EQ(fault_of(chain({1, 28, 28}, {{"linear1", Linear{10}}})),
            "layer linear1 takes a flat input, got 1x28x28 from the input; put a flatten before it");
}

TEST(InferShapes, WantsGroupsThatDivideBothChannelCounts) {
  const auto fault = [](int out_channels, int groups) {
    return fault_of(
        chain({6, 5, 4}, {{"relu1", Relu{}},
                          {"conv1", Conv2d{.out_channels = out_channels, .kernel = {3, 3}, .groups = groups}},
                          {"flatten1", Flatten{}}}));
  };
  EXPECT_EQ(fault(9, 3), "no error");
  EXPECT_EQ(
      fault(8, 4),
      "layer conv1 has 4 groups on its input 6x5x4 from relu1; they must divide its 6 input channels and "
      "its 8 output channels");
  EXPECT_EQ(
      fault(8, 3),
      "layer conv1 has 3 groups on its input 6x5x4 from relu1; they must divide its 6 input channels and "
      "its 8 output channels");
  EXPECT_EQ(fault(8, 0), "layer conv1 has 0 groups on its input 6x5x4 from relu1; there must be at least 1");
}

TEST(InferShapes, WantsAFlatLastLayer) {
  EXPECT_EQ(
      fault_of(chain({1, 4, 4}, {{"relu1", Relu{}}})),
      "layer relu1 is the last and gives 1x4x4, but the loss takes a flat vector of classes; put a flatten "
      "and a linear after it");
}

TEST(InferShapes, RefusesAKernelLargerThanThePaddedInput) {
  EXPECT_EQ(
      fault_of(chain({1, 4, 2}, {{"conv1", Conv2d{.out_channels = 1, .kernel = {3, 5}, .padding = {0, 1}}}})),
      "layer conv1 has a kernel of 3x5 that is larger than its input 1x4x2 from the input with padding 0x1; "
      "make it smaller or pad more");
}

TEST(InferShapes, RefusesAnImpossibleProbability) {
  const auto drop = [](double p) {
    return chain({6}, {{"linear1", Linear{9}}, {"drop", Dropout{p}}, {"linear2", Linear{2}}});
  };
  EXPECT_EQ(
      fault_of(drop(1)),
      "layer drop drops elements of its input 9 from linear1 with probability 1; it must be at least 0 and "
      "below 1");
  EXPECT_THAT(fault_of(drop(-0.1)), testing::HasSubstr("with probability -0.1;"));
  EXPECT_THAT(fault_of(drop(std::numeric_limits<double>::quiet_NaN())),
              testing::HasSubstr("probability nan;"));
  EXPECT_THAT(fault_of(drop(std::numeric_limits<double>::infinity())),
              testing::HasSubstr("probability inf;"));
  EXPECT_EQ(infer_shapes(drop(0)), (std::vector<Shape>{{6}, {9}, {9}, {2}}));
  EXPECT_EQ(infer_shapes(drop(0.999)).size(), 4U);
}

TEST(InferShapes, RefusesImpossibleNumbers) {
  using testing::HasSubstr;
  const auto conv = [](Conv2d kind) { return chain({1, 8, 8}, {{"c", kind}, {"f", Flatten{}}}); };
  EXPECT_THAT(fault_of(conv({.out_channels = 0, .kernel = {3, 3}})),
              HasSubstr("layer c has 0 output channels"));
  EXPECT_THAT(fault_of(conv({.out_channels = -2, .kernel = {3, 3}})), HasSubstr("-2 output channels"));
  EXPECT_THAT(fault_of(conv({.out_channels = 1, .kernel = {0, 3}})), HasSubstr("a kernel of 0x3"));
  EXPECT_THAT(fault_of(conv({.out_channels = 1, .kernel = {3, 3}, .stride = {1, 0}})),
              HasSubstr("a stride of 1x0"));
  EXPECT_THAT(fault_of(conv({.out_channels = 1, .kernel = {3, 3}, .stride = {-1, 1}})),
              HasSubstr("a stride of -1x1"));
  EXPECT_THAT(fault_of(conv({.out_channels = 1, .kernel = {3, 3}, .padding = {-1, 0}})),
              HasSubstr("a padding of -1x0"));
  EXPECT_THAT(fault_of(chain({4}, {{"l", Linear{0}}})), HasSubstr("layer l has 0 output units"));
}

TEST(InferShapes, RefusesPoolsThatWouldSeeOnlyPadding) {
  using testing::HasSubstr;
  const Extent two{2, 2};
  EXPECT_THAT(fault_of(chain({1, 8, 8}, {{"p", AvgPool{two, two, {2, 0}}}})),
              HasSubstr("a padding of 2x0 and a window of 2x2"));
  EXPECT_THAT(fault_of(chain({1, 8, 8}, {{"p", MaxPool{two, two, {0, 3}}}})),
              HasSubstr("a padding of 0x3 and a window of 2x2"));
  EXPECT_THAT(fault_of(chain({1, 8, 8}, {{"p", MaxPool{two, {}, {0, 0}}}})), HasSubstr("a stride of 0x0"));
}

TEST(InferShapes, RefusesNamesThatDoNotTellLayersApart) {
  EXPECT_EQ(fault_of(chain({4}, {{"relu1", Relu{}}, {"relu1", Relu{}}})),
            "model chain: two layers are named relu1; layer names must differ");
  EXPECT_EQ(fault_of(chain({4}, {{"", Relu{}}})), "model chain: layer number 1 has no name; give it one");
}

TEST(InferShapes, RefusesAnEmptyOrImmenseModel) {
  using testing::HasSubstr;
  EXPECT_EQ(fault_of(chain({4}, {})), "model chain has no layers; the loss needs at least one");
  EXPECT_THAT(fault_of(chain({1, 0, 28}, {{"f", Flatten{}}})), HasSubstr("an input of 1x0x28"));
  EXPECT_THAT(fault_of(chain({1, 1 << 12, 1 << 12}, {{"c", Conv2d{.out_channels = 8, .kernel = {1, 1}}}})),
              HasSubstr("layer c gives 8x4096x4096"));
  EXPECT_THAT(fault_of(chain({1, 1 << 14, 1 << 14}, {{"c", Conv2d{.out_channels = 8, .kernel = {1, 1}}}})),
              HasSubstr("an input of 1x16384x16384"));
  EXPECT_THAT(fault_of(chain({1, 28, 28}, {{"c", Conv2d{8, {3, 3}, {1, 1}, {3000, 3000}}}})),
              HasSubstr("layer c pads its input 1x28x28"));
}

}  // namespace
}  // namespace lockstep::model
