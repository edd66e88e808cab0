#include "reference/linear.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"

namespace lockstep::reference {
namespace {

using Tensor = std::vector<float>;
constexpr float kBig = 0x1p+30f;  // swallows a 1 that is added to it

TEST(LinearForward, IsAChainFromTheBias) {
  EXPECT_THAT(linear_forward({2, 2}, 2, Tensor{1, 2, 3, 4}, Tensor{1, 10, 100, 1000}, Tensor{0.5f, 0}),
              SameBits(Tensor{21.5f, 2100, 43.5f, 4300}));
  EXPECT_THAT(linear_forward({2, 1}, 1, Tensor{-kBig, 1}, Tensor{1, 1}, Tensor{kBig}), SameBits(Tensor{1}));
  EXPECT_THAT(linear_forward({2, 1}, 1, Tensor{1, -kBig}, Tensor{1, 1}, Tensor{kBig}), SameBits(Tensor{0}));
}

TEST(LinearForward, StoresEveryZeroAsPlusZero) {
  EXPECT_FALSE(std::signbit(linear_forward({1, 1}, 1, Tensor{0}, Tensor{-1}, Tensor{-0.0f})[0]));
}

TEST(LinearInputGradient, IsAChainOverOutputUnits) {
  EXPECT_THAT(linear_input_gradient({2, 2}, 1, Tensor{1, 2}, Tensor{1, 10, 100, 1000}),
              SameBits(Tensor{201, 2010}));
  EXPECT_THAT(linear_input_gradient({1, 3}, 1, Tensor{kBig, -kBig, 1}, Tensor{1, 1, 1}), SameBits(Tensor{1}));
  EXPECT_THAT(linear_input_gradient({1, 3}, 1, Tensor{1, kBig, -kBig}, Tensor{1, 1, 1}), SameBits(Tensor{0}));
}

TEST(LinearWeightGradient, ChainsTheExamplesOfAPack) {
  EXPECT_THAT(linear_weight_gradient({2, 2}, 2, Tensor{1, 2, 3, 4}, Tensor{1, 10, 100, 1000}),
              SameBits(Tensor{301, 402, 3010, 4020}));
  Tensor x(16), dy(16, 1.0f);
  x[0] = kBig, x[1] = -kBig, x[8] = 1;
  EXPECT_THAT(linear_weight_gradient({1, 1}, 16, x, dy), SameBits(Tensor{1}));
}

TEST(LinearWeightGradient, JoinsPacksInTheirTree) {
  Tensor x(33), dy(33, 1.0f);
  x[0] = 1, x[16] = kBig, x[32] = -kBig;
  EXPECT_THAT(linear_weight_gradient({1, 1}, 33, x, dy), SameBits(Tensor{0}));
  x[0] = kBig, x[16] = -kBig, x[32] = 1;
  EXPECT_THAT(linear_weight_gradient({1, 1}, 33, x, dy), SameBits(Tensor{1}));
}

TEST(LinearWeightGradient, StoresAnUnderflowAsPlusZero) {
  const Tensor dw = linear_weight_gradient({1, 1}, 1, Tensor{0x1p-100f}, Tensor{-0x1p-100f});
  EXPECT_THAT(dw[0], SameBits(0.0f));
  EXPECT_FALSE(std::signbit(dw[0]));
}

TEST(LinearBiasGradient, MeetsInTheLaneTree) {
  Tensor dy(16);
  dy[0] = kBig, dy[1] = -kBig, dy[8] = 1;
  EXPECT_THAT(linear_bias_gradient({1, 1}, 16, dy), SameBits(Tensor{0}));
  std::swap(dy[1], dy[8]);
  EXPECT_THAT(linear_bias_gradient({1, 1}, 16, dy), SameBits(Tensor{1}));
  EXPECT_THAT(linear_bias_gradient({1, 2}, 3, Tensor{1, 10, 2, 20, 3, 30}), SameBits(Tensor{6, 60}));
}

}  // namespace
}  // namespace lockstep::reference
