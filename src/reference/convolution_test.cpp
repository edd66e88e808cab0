#include "reference/convolution.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"

namespace lockstep::reference {
namespace {

using Tensor = std::vector<float>;
constexpr float kBig = 0x1p+30f;  // swallows a 1 that is added to it

// A 1x1 convolution of 1x1 images: what is left is the order of examples and channels.
arithmetic::ConvolutionShape point(int in_channels, int out_channels) {
  return {.in_channels = in_channels,
          .out_channels = out_channels,
          .height = 1,
          .width = 1,
          .kernel_height = 1,
          .kernel_width = 1};
}

// A row of pixels under a kernel of one row.
arithmetic::ConvolutionShape row(int width, int kernel_width) {
  return {.in_channels = 1,
          .out_channels = 1,
          .height = 1,
          .width = width,
          .kernel_height = 1,
          .kernel_width = kernel_width};
}

TEST(ConvolutionForward, SumsTheWindowWithoutFlipping) {
  const arithmetic::ConvolutionShape shape{
      .in_channels = 1, .out_channels = 2, .height = 2, .width = 3, .kernel_height = 2, .kernel_width = 2};
  const Tensor y = convolution_forward(shape, 1, Tensor{1, 2, 3, 4, 5, 6},
                                       Tensor{1, 10, 100, 1000, 0, 0, 0, 1}, Tensor{0.5f, -6.0f});
  EXPECT_THAT(y, SameBits(Tensor{5421.5f, 6532.5f, -1, 0}));
}

// Two groups of one input and two output channels.
TEST(ConvolutionGroups, TakeTheChannelsOfTheirOwnGroup) {
  arithmetic::ConvolutionShape shape = point(2, 4);
  shape.groups = 2;
  const Tensor x{3, 5}, weight{1, 10, 100, 1000}, dy{1, 2, 3, 4};
  EXPECT_THAT(convolution_forward(shape, 1, x, weight, Tensor{0, 0, 0, 0.5f}),
              SameBits(Tensor{3, 30, 500, 5000.5f}));
  EXPECT_THAT(convolution_forward(shape, 1, x, weight, {}), SameBits(Tensor{3, 30, 500, 5000}));
  EXPECT_THAT(convolution_input_gradient(shape, 1, dy, weight), SameBits(Tensor{21, 4300}));
  EXPECT_THAT(convolution_weight_gradient(shape, 1, x, dy), SameBits(Tensor{3, 6, 15, 20}));
}

TEST(ConvolutionForward, KnowsStrideAndPadding) {
  arithmetic::ConvolutionShape shape = row(4, 3);
  shape.stride_width = 2;
  shape.padding_width = 1;
  EXPECT_THAT(convolution_forward(shape, 1, Tensor{1, 2, 3, 4}, Tensor{1, 10, 100}, Tensor{0}),
              SameBits(Tensor{210, 432}));
}

TEST(ConvolutionForward, ChainsFromTheBiasOverChannelsThenKernel) {
  EXPECT_THAT(convolution_forward(point(2, 1), 1, Tensor{1, 1}, Tensor{-kBig, 1}, Tensor{kBig}),
              SameBits(Tensor{1}));
  EXPECT_THAT(convolution_forward(point(2, 1), 1, Tensor{1, 1}, Tensor{1, -kBig}, Tensor{kBig}),
              SameBits(Tensor{0}));
  EXPECT_THAT(convolution_forward(row(3, 3), 1, Tensor{kBig, -kBig, 1}, Tensor{1, 1, 1}, Tensor{1}),
              SameBits(Tensor{1}));
}

TEST(ConvolutionForward, FusesMultiplyAndAdd) {
  const float x = 1 + 0x1p-12f;  // x * x needs 25 bits
  EXPECT_THAT(convolution_forward(point(1, 1), 1, Tensor{x}, Tensor{x}, Tensor{-1}),
              SameBits(Tensor{0x1p-11f + 0x1p-24f}));
}

TEST(ConvolutionForward, StoresEveryZeroAsPlusZero) {
  const Tensor y = convolution_forward(point(1, 1), 1, Tensor{0.0f}, Tensor{-1}, Tensor{-0.0f});
  EXPECT_THAT(y[0], SameBits(0.0f));
  EXPECT_FALSE(std::signbit(y[0]));
}

TEST(ConvolutionInputGradient, SpreadsTheKernel) {
  arithmetic::ConvolutionShape shape = row(5, 2);
  shape.stride_width = 2;  // outputs at 0 and 2; pixel 4 is reached by none
  EXPECT_THAT(convolution_input_gradient(shape, 1, Tensor{1, 2}, Tensor{10, 100}),
              SameBits(Tensor{10, 100, 20, 200, 0}));
  shape.padding_width = 1;  // outputs at -1, 1, 3
  EXPECT_THAT(convolution_input_gradient(shape, 1, Tensor{1, 2, 3}, Tensor{10, 100}),
              SameBits(Tensor{100, 20, 200, 30, 300}));
}

TEST(ConvolutionInputGradient, ChainsOverOutputChannelsThenKernel) {
  EXPECT_THAT(convolution_input_gradient(point(1, 3), 1, Tensor{1, 1, 1}, Tensor{kBig, -kBig, 1}),
              SameBits(Tensor{1}));
  EXPECT_THAT(convolution_input_gradient(point(1, 3), 1, Tensor{1, 1, 1}, Tensor{1, kBig, -kBig}),
              SameBits(Tensor{0}));
  // pixel 2 meets kx = 0 at output 2 first, kx = 2 at output 0 last
  EXPECT_THAT(convolution_input_gradient(row(5, 3), 1, Tensor{1, -kBig, kBig}, Tensor{1, 1, 1})[2],
              SameBits(1.0f));
  EXPECT_THAT(convolution_input_gradient(row(5, 3), 1, Tensor{kBig, -kBig, 1}, Tensor{1, 1, 1})[2],
              SameBits(0.0f));
}

TEST(ConvolutionWeightGradient, SumsOverPositionsAndExamples) {
  EXPECT_THAT(convolution_weight_gradient(row(3, 2), 2, Tensor{1, 2, 3, 10, 20, 30}, Tensor{1, 100, 1, 100}),
              SameBits(Tensor{201 + 2010, 302 + 3020}));
}

// x of the examples, with dy = 1.
float weight_gradient(int channels, const Tensor& examples) {
  Tensor x;
  for (const float value : examples) x.insert(x.end(), static_cast<std::size_t>(channels), value);
  const Tensor dy(x.size(), 1.0f);
  return convolution_weight_gradient(point(channels, channels), static_cast<int>(examples.size()), x, dy)[0];
}

TEST(ConvolutionWeightGradient, ChainsExamplesWhereChannelsAreSixteens) {
  Tensor examples(16);
  examples[0] = kBig, examples[1] = -kBig, examples[8] = 1;
  EXPECT_THAT(weight_gradient(16, examples), SameBits(1.0f));
  EXPECT_THAT(weight_gradient(15, examples), SameBits(0.0f));  // the lane tree adds 0 and 8 first
  examples[8] = 0, examples[2] = 1;
  EXPECT_THAT(weight_gradient(16, examples), SameBits(1.0f));
}

TEST(ConvolutionWeightGradient, ChainsPositionsBeforeExamples) {
  arithmetic::ConvolutionShape shape = point(16, 16);
  shape.width = 2;
  Tensor x(2 * 16 * 2), dy(x.size(), 1.0f);
  x[0] = kBig, x[1] = 1, x[32] = -kBig;  // two positions of example 0, then one of example 1
  EXPECT_THAT(convolution_weight_gradient(shape, 2, x, dy)[0],
              SameBits(1.0f));  // per pack: position by position
  shape.in_channels = shape.out_channels = 1;
  EXPECT_THAT(convolution_weight_gradient(shape, 2, Tensor{kBig, 1, -kBig, 0}, Tensor{1, 1, 1, 1})[0],
              SameBits(0.0f));
}

TEST(ConvolutionWeightGradient, ChainsARowThenAddsRows) {
  arithmetic::ConvolutionShape shape = point(16, 16);
  shape.height = 2;
  Tensor x(2 * 16 * 2), dy(x.size(), 1.0f);
  x[0] = 1, x[1] = kBig, x[33] = -kBig;  // example 0 in both rows, example 1 in the second
  EXPECT_THAT(convolution_weight_gradient(shape, 2, x, dy)[0], SameBits(1.0f));  // one chain would lose the 1
}

TEST(ConvolutionWeightGradient, JoinsPacksInTheirTree) {
  Tensor examples(16 * 3);
  examples[0] = 1, examples[16] = kBig, examples[32] = -kBig;
  EXPECT_THAT(weight_gradient(1, examples), SameBits(0.0f));
  EXPECT_THAT(weight_gradient(16, examples), SameBits(0.0f));
  examples[0] = kBig, examples[16] = -kBig, examples[32] = 1;
  EXPECT_THAT(weight_gradient(1, examples), SameBits(1.0f));
  EXPECT_THAT(weight_gradient(16, examples), SameBits(1.0f));
}

// Products that underflow to -0 in every lane.
TEST(ConvolutionWeightGradient, StoresAnUnderflowAsPlusZero) {
  for (const int channels : {1, 16}) {
    const Tensor x(static_cast<std::size_t>(16 * channels), 0x1p-100f), dy(x.size(), -0x1p-100f);
    const Tensor dw = convolution_weight_gradient(point(channels, channels), 16, x, dy);
    EXPECT_THAT(dw[0], SameBits(0.0f));
    EXPECT_FALSE(std::signbit(dw[0])) << channels << " channels";
  }
}

TEST(ConvolutionBiasGradient, AddsPositionsThenLanes) {
  const arithmetic::ConvolutionShape shape = row(3, 1);
  EXPECT_THAT(convolution_bias_gradient(shape, 2, Tensor{1, 2, 3, 10, 20, 30}), SameBits(Tensor{66}));
  EXPECT_THAT(convolution_bias_gradient(shape, 2, Tensor{kBig, -kBig, 1, 0, 0, 0}), SameBits(Tensor{1}));
  EXPECT_THAT(convolution_bias_gradient(shape, 2, Tensor{1, kBig, 0, -kBig, 0, 0}), SameBits(Tensor{0}));
}

}  // namespace
}  // namespace lockstep::reference
