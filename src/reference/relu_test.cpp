#include "reference/relu.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"

namespace lockstep::reference {
namespace {

using Tensor = std::vector<float>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Relu, KeepsWhatIsPositive) {
  EXPECT_THAT(relu_forward(Tensor{2, -3, 0, 0x1p-149f, kInfinity, -kInfinity}),
              SameBits(Tensor{2, 0, 0, 0x1p-149f, kInfinity, 0}));
}

TEST(Relu, MakesPlusZeroOfMinusZero) { EXPECT_FALSE(std::signbit(relu_forward(Tensor{-0.0f})[0])); }

TEST(Relu, LetsNanPass) { EXPECT_TRUE(std::isnan(relu_forward(Tensor{kNan})[0])); }

TEST(Relu, GradientPassesWhereTheOutputIsPositive) {
  EXPECT_THAT(relu_gradient(Tensor{2, 0, 0x1p-149f, kNan}, Tensor{5, 6, 7, 8}), SameBits(Tensor{5, 0, 7, 0}));
  EXPECT_FALSE(std::signbit(relu_gradient(Tensor{0}, Tensor{-6})[0]));
}

}  // namespace
}  // namespace lockstep::reference
