#include "arithmetic/algorithm.h"

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
  EXPECT_EQ(algorithms_for(sixteens).weight_gradient, WeightGradientAlgorithm::per_row);
  EXPECT_EQ(algorithms_for(lenet_conv2).weight_gradient, WeightGradientAlgorithm::per_lane);
  EXPECT_EQ(algorithms_for(sixteens).convolution, ConvolutionAlgorithm::direct);
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
