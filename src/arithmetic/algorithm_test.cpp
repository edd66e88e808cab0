#include "arithmetic/algorithm.h"

#include <utility>

#include <gtest/gtest.h>

namespace lockstep::arithmetic {
namespace {

TEST(Algorithm, PerPackChainsNeedBothChannelCountsInSixteens) {
  EXPECT_TRUE(uses_row_chains(16, 16));
  EXPECT_TRUE(uses_row_chains(64, 128));
  EXPECT_FALSE(uses_row_chains(20, 64));
  EXPECT_FALSE(uses_row_chains(64, 50));
  EXPECT_FALSE(uses_row_chains(1, 20));
}

TEST(Algorithm, IsReadFromTheWholeLayersShape) {
  const ConvolutionShape sixteens{.in_channels = 16, .out_channels = 32};
  const ConvolutionShape lenet_conv2{.in_channels = 20, .out_channels = 50};
  for (const ConvolutionRule rule : {ConvolutionRule::fast, ConvolutionRule::direct}) {
    EXPECT_EQ(algorithms_for(sixteens, rule).weight_gradient, WeightGradientAlgorithm::per_row);
    EXPECT_EQ(algorithms_for(lenet_conv2, rule).weight_gradient, WeightGradientAlgorithm::per_lane);
    EXPECT_EQ(algorithms_for(sixteens, rule).convolution, ConvolutionAlgorithm::direct);
  }
}

TEST(Algorithm, CountsTheChannelsOfAGroup) {
  const auto weight_gradient = [](int in, int out, int groups) {
    return algorithms_for({.in_channels = in, .out_channels = out, .groups = groups}, ConvolutionRule::fast)
        .weight_gradient;
  };
  EXPECT_EQ(weight_gradient(32, 64, 2), WeightGradientAlgorithm::per_row);
  EXPECT_EQ(weight_gradient(32, 64, 4), WeightGradientAlgorithm::per_lane);
  EXPECT_EQ(weight_gradient(64, 32, 4), WeightGradientAlgorithm::per_lane);
}

struct Image {
  int height, width;
};

ConvolutionShape square_kernel(int kernel, int padding, Image input) {
  return {.in_channels = 16,
          .out_channels = 16,
          .height = input.height,
          .width = input.width,
          .kernel_height = kernel,
          .kernel_width = kernel,
          .padding_height = padding,
          .padding_width = padding};
}

ConvolutionShape with_channels(ConvolutionShape shape, int in_channels, int out_channels) {
  shape.in_channels = in_channels;
  shape.out_channels = out_channels;
  return shape;
}

// The tile under `fast`, 0 where the layer is direct.
int tile_of(const ConvolutionShape& shape) {
  const ConvolutionAlgorithms algorithms = algorithms_for(shape, ConvolutionRule::fast);
  EXPECT_EQ(algorithms.winograd(), algorithms.tile != 0);
  EXPECT_EQ(algorithms.winograd(), algorithms.weight_gradient == WeightGradientAlgorithm::winograd);
  return algorithms.tile;
}

TEST(FastConvolution, IsChosenWhereItPaysAndAllowed) {
  const std::pair<ConvolutionShape, int> layers[]{
      {with_channels(square_kernel(5, 0, {12, 12}), 20, 50), 4},  // LeNet conv2
      {with_channels(square_kernel(3, 1, {28, 28}), 16, 16), 4},
      {with_channels(square_kernel(3, 1, {28, 28}), 64, 64), 7},
      {with_channels(square_kernel(3, 1, {14, 14}), 128, 128), 7},
      {with_channels(square_kernel(3, 1, {7, 7}), 256, 256), 7},
      {with_channels(square_kernel(3, 1, {4, 4}), 512, 512), 4}};
  for (const auto& [shape, tile] : layers) {
    EXPECT_EQ(tile_of(shape), tile) << shape.in_channels;
    const ConvolutionAlgorithms direct = algorithms_for(shape, ConvolutionRule::direct);
    EXPECT_FALSE(direct.winograd());
    EXPECT_NE(direct.weight_gradient, WeightGradientAlgorithm::winograd);
    EXPECT_EQ(direct.tile, 0);
  }
}

TEST(FastConvolution, NeedsSixteenChannelsOnBothSides) {
  const ConvolutionShape shape = square_kernel(3, 1, {14, 14});
  EXPECT_EQ(tile_of(shape), 4);
  EXPECT_EQ(tile_of(with_channels(shape, 15, 64)), 0);
  EXPECT_EQ(tile_of(with_channels(shape, 64, 15)), 0);
  EXPECT_EQ(tile_of(with_channels(shape, 17, 19)), 4);
}

TEST(FastConvolution, NeedsSixteenChannelsInEachGroup) {
  const auto in_groups = [](int in, int out, int groups) {
    ConvolutionShape shape = with_channels(square_kernel(3, 1, {14, 14}), in, out);
    shape.groups = groups;
    return tile_of(shape);
  };
  EXPECT_EQ(in_groups(64, 64, 4), 4);
  EXPECT_EQ(in_groups(64, 64, 8), 0);
  EXPECT_EQ(in_groups(32, 64, 4), 0);
  EXPECT_EQ(in_groups(64, 32, 4), 0);
}

TEST(FastConvolution, NeedsStrideOneAndASquareKernelOfThreeOrFive) {
  const auto changed = [](auto change) {
    ConvolutionShape shape = square_kernel(3, 1, {28, 28});
    change(shape);
    return tile_of(shape);
  };
  EXPECT_EQ(changed([](ConvolutionShape& s) { s.stride_height = s.stride_width = 2; }), 0);
  EXPECT_EQ(changed([](ConvolutionShape& s) { s.stride_height = 2; }), 0);
  EXPECT_EQ(changed([](ConvolutionShape& s) { s.stride_width = 2; }), 0);
  EXPECT_EQ(changed([](ConvolutionShape& s) { s.kernel_height = 5; }), 0);
  EXPECT_EQ(changed([](ConvolutionShape& s) { s.kernel_width = 5; }), 0);
  EXPECT_EQ(changed([](ConvolutionShape& s) { s.padding_height = 0; }), 0);
  EXPECT_EQ(changed([](ConvolutionShape& s) { s.padding_width = 2; }), 0);
  EXPECT_EQ(tile_of(square_kernel(5, 2, {28, 28})), 4);
  for (const int kernel : {1, 2, 4, 6, 7})
    EXPECT_EQ(tile_of(square_kernel(kernel, 0, {28, 28})), 0) << kernel;
}

TEST(FastConvolution, TakesTheTileWithFewerProducts) {
  EXPECT_EQ(tile_of(square_kernel(3, 0, {8, 4})), 2);    // 6x2 outputs: 3 * 1 * 16 against 2 * 1 * 36
  EXPECT_EQ(tile_of(square_kernel(3, 0, {12, 12})), 4);  // 10x10 outputs: 5 * 5 * 16 against 3 * 3 * 36
  EXPECT_EQ(tile_of(square_kernel(5, 0, {6, 6})), 2);    // 2x2 outputs: 36 against 64
  EXPECT_EQ(tile_of(square_kernel(5, 0, {7, 7})), 4);    // 3x3 outputs: 2 * 2 * 36 against 64
}

TEST(FastConvolution, TakesTwoOnATie) {
  EXPECT_EQ(tile_of(square_kernel(3, 1, {6, 6})), 2);  // 3 * 3 * 16 = 2 * 2 * 36
}

TEST(FastConvolution, TakesSevenWithAtMostFourFifthsOfTheProducts) {
  const auto tile = [](Image input) { return tile_of(with_channels(square_kernel(3, 1, input), 32, 32)); };
  EXPECT_EQ(tile({5, 5}), 7);    // 81 against 2 * 2 * 36
  EXPECT_EQ(tile({6, 6}), 7);    // 81 against 3 * 3 * 16
  EXPECT_EQ(tile({10, 10}), 4);  // as many as 3 * 3 * 36
  EXPECT_EQ(tile({19, 20}), 4);  // 5 * 3 * 3 * 81 = 3645 > 4 * 5 * 5 * 36 = 3600
  EXPECT_EQ(tile({25, 28}), 7);  // 5 * 4 * 4 * 81 = 6480 <= 4 * 7 * 7 * 36 = 7056
  EXPECT_EQ(tile({32, 32}), 4);  // 5 * 5 * 81 of 8 * 8 * 36
}

TEST(FastConvolution, TakesSevenFromThirtyTwoChannelsInEachGroupAlone) {
  const auto tile = [](int in, int out, int groups) {
    ConvolutionShape shape = with_channels(square_kernel(3, 1, {14, 14}), in, out);
    shape.groups = groups;
    return tile_of(shape);
  };
  EXPECT_EQ(tile(32, 32, 1), 7);
  EXPECT_EQ(tile(31, 64, 1), 4);
  EXPECT_EQ(tile(64, 31, 1), 4);
  EXPECT_EQ(tile(64, 64, 2), 7);
  EXPECT_EQ(tile(128, 64, 4), 4);
  EXPECT_EQ(tile(64, 128, 4), 4);
}

TEST(FastConvolution, NeverTakesSevenUnderAKernelOfFive) {
  EXPECT_EQ(tile_of(with_channels(square_kernel(5, 2, {14, 14}), 64, 64)), 4);
}

// A pool by two reads 4x4 of 5x5 outputs: alone they would be one tile of 36 products.
TEST(FastConvolution, CountsTheLayersOwnOutputs) {
  EXPECT_EQ(tile_of(square_kernel(3, 0, {7, 7})), 0);  // 5x5 outputs: 5 * 144 > 3 * 225
  EXPECT_EQ(tile_of(square_kernel(3, 0, {6, 6})), 4);  // 4x4 outputs: 5 * 36 <= 3 * 144
}

TEST(FastConvolution, PaysUpToThreeFifthsOfTheTapsInside) {
  // 7x10 outputs: 2 * 3 * 36 = 216 products; each of 5x8 pixels meets 9 taps: 360; 5 * 216 = 3 * 360
  EXPECT_EQ(tile_of(square_kernel(3, 2, {5, 8})), 4);
  // 2x3 outputs: 64 products; (4 + 4) * (4 + 5 + 4) = 104 taps; 5 * 64 = 320 > 3 * 104 = 312
  EXPECT_EQ(tile_of(square_kernel(5, 1, {4, 5})), 0);
  // 3x9 outputs: 1 * 3 * 36 = 108 products; 7 * 25 = 175 taps; 5 * 108 = 540 > 3 * 175 = 525
  EXPECT_EQ(tile_of(square_kernel(3, 1, {3, 9})), 0);
}

TEST(Algorithm, OutputSizesRoundDown) {
  const ConvolutionShape shape{.height = 8,
                               .width = 9,
                               .kernel_height = 3,
                               .kernel_width = 2,
                               .stride_height = 2,
                               .stride_width = 3,
                               .padding_height = 1};
  EXPECT_EQ(shape.out_height(), 4);
  EXPECT_EQ(shape.out_width(), 3);
}

}  // namespace
}  // namespace lockstep::arithmetic
