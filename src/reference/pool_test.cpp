#include "reference/pool.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"

namespace lockstep::reference {
namespace {

using Tensor = std::vector<float>;
constexpr float kBig = 0x1p+30f;  // swallows a 1 that is added to it
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

PoolShape halves(int height, int width) {
  return {.channels = 1,
          .height = height,
          .width = width,
          .window_height = 2,
          .window_width = 2,
          .stride_height = 2,
          .stride_width = 2};
}
PoolShape row(int width, int window, int stride, int padding) {
  return {.channels = 1,
          .height = 1,
          .width = width,
          .window_height = 1,
          .window_width = window,
          .stride_width = stride,
          .padding_width = padding};
}

TEST(AveragePool, AddsTwoByTwoInPairs) {
  EXPECT_THAT(average_pool_forward(halves(2, 2), 1, Tensor{1, 2, 3, 6}), SameBits(Tensor{3}));
  EXPECT_THAT(average_pool_forward(halves(2, 2), 1, Tensor{1, kBig, -kBig, 1}),
              SameBits(Tensor{0}));  // a chain gives 1/4
  EXPECT_THAT(average_pool_forward(halves(2, 2), 1, Tensor{kBig, -kBig, 1, 1}), SameBits(Tensor{0.5f}));
}

TEST(AveragePool, ChainsOtherWindows) {
  EXPECT_THAT(average_pool_forward(row(4, 4, 4, 0), 1, Tensor{1, kBig, -kBig, 1}), SameBits(Tensor{0.25f}));
  EXPECT_THAT(average_pool_forward(row(3, 3, 1, 0), 1, Tensor{1, 2, 4}), SameBits(Tensor{7 * (1.0f / 3.0f)}));
}

TEST(AveragePool, CountsPadding) {
  PoolShape shape = halves(2, 2);
  shape.padding_height = shape.padding_width = 1;
  EXPECT_THAT(average_pool_forward(shape, 1, Tensor{4, 8, 12, 16}), SameBits(Tensor{1, 2, 3, 4}));
  EXPECT_THAT(average_pool_gradient(shape, 1, Tensor{4, 8, 12, 16}), SameBits(Tensor{1, 2, 3, 4}));
}

TEST(AveragePool, DropsWindowsThatOverhang) {
  EXPECT_THAT(average_pool_forward(halves(3, 3), 1, Tensor{1, 2, 99, 3, 6, 99, 99, 99, 99}),
              SameBits(Tensor{3}));
  EXPECT_THAT(average_pool_gradient(halves(3, 3), 1, Tensor{4}), SameBits(Tensor{1, 1, 0, 1, 1, 0, 0, 0, 0}));
}

TEST(AveragePool, GradientChainsRoundedSharesOverWindows) {
  const float third = 1.0f / 3.0f;
  const Tensor dx = average_pool_gradient(row(5, 3, 1, 0), 1, Tensor{0.1f, 0.7f, -0.3f});
  EXPECT_THAT(dx[0], SameBits(0.1f * third));
  EXPECT_THAT(dx[2], SameBits((0.1f * third + 0.7f * third) + -0.3f * third));
  EXPECT_THAT(dx[4], SameBits(-0.3f * third));
}

TEST(AveragePool, StoresEveryZeroAsPlusZero) {
  EXPECT_FALSE(std::signbit(average_pool_forward(halves(2, 2), 1, Tensor{-0.0f, -0.0f, -0.0f, -0.0f})[0]));
  EXPECT_FALSE(std::signbit(average_pool_forward(halves(2, 2), 1, Tensor{-0x1p-149f, 0, 0, 0})[0]));
}

TEST(MaxPool, TakesTheFirstOfEquals) {
  EXPECT_THAT(max_pool_forward(halves(2, 2), 1, Tensor{1, 7, 7, 2}), SameBits(Tensor{7}));
  EXPECT_THAT(max_pool_gradient(halves(2, 2), 1, Tensor{1, 7, 7, 2}, Tensor{5}),
              SameBits(Tensor{0, 5, 0, 0}));
}

TEST(MaxPool, TakesTheFirstNan) {
  EXPECT_TRUE(std::isnan(max_pool_forward(halves(2, 2), 1, Tensor{1, kNan, 7, kNan})[0]));
  EXPECT_THAT(max_pool_gradient(halves(2, 2), 1, Tensor{1, kNan, 7, kNan}, Tensor{5}),
              SameBits(Tensor{0, 5, 0, 0}));
  EXPECT_THAT(max_pool_gradient(halves(2, 2), 1, Tensor{kNan, 7, 7, 2}, Tensor{5}),
              SameBits(Tensor{5, 0, 0, 0}));
}

TEST(MaxPool, NeverChoosesPadding) {
  PoolShape shape = halves(2, 2);
  shape.padding_height = shape.padding_width = 1;
  EXPECT_THAT(max_pool_forward(shape, 1, Tensor{-1, -2, -3, -4}), SameBits(Tensor{-1, -2, -3, -4}));
}

TEST(MaxPool, StoresEveryZeroAsPlusZero) {
  EXPECT_FALSE(std::signbit(max_pool_forward(halves(2, 2), 1, Tensor{-0.0f, -1, -1, -1})[0]));
}

TEST(MaxPool, GradientChainsOverWindows) {
  EXPECT_THAT(max_pool_gradient(row(5, 3, 1, 0), 1, Tensor{0, 0, 9, 0, 0}, Tensor{1, kBig, -kBig}),
              SameBits(Tensor{0, 0, 0, 0, 0}));
  EXPECT_THAT(max_pool_gradient(row(5, 3, 1, 0), 1, Tensor{0, 0, 9, 0, 0}, Tensor{kBig, -kBig, 1}),
              SameBits(Tensor{0, 0, 1, 0, 0}));
}

TEST(MaxPool, DropsWindowsThatOverhang) {
  EXPECT_THAT(max_pool_forward(row(5, 2, 2, 0), 1, Tensor{1, 2, 4, 3, 99}), SameBits(Tensor{2, 4}));
}

}  // namespace
}  // namespace lockstep::reference
