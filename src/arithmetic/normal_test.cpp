#include "arithmetic/normal.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace lockstep::arithmetic {
namespace {

// Quantiles computed with 40 digits.
TEST(Normal, IsTheQuantile) {
  struct Known {
    std::uint32_t word;
    double quantile;
  };
  for (const Known& known :
       {Known{0x00000000, -0x1.95a1198fcf3d6p+2}, Known{0x00003039, -0x1.22445dd52d979p+2},
        Known{0x0fffffff, -0x1.88bc1fc22e753p+0}, Known{0x13333333, -0x1.7085226b1fc71p+0},
        Known{0x80000000, 0x1.40d931ff62706p-32}, Known{0xdeadbeef, 0x1.20293483584e6p+0},
        Known{0xffffffff, 0x1.95a1198fcf3d6p+2}}) {
    EXPECT_NEAR(normal_of_word(known.word) / known.quantile, 1.0, 1e-15) << known.word;
  }
}

TEST(Normal, InvertsTheDistribution) {
  double worst = 0;
  for (std::uint64_t word = 0; word < (std::uint64_t{1} << 31); word += 10'007) {
    const double p = (static_cast<double>(word) + 0.5) * 0x1p-32;
    const double x = normal_of_word(static_cast<std::uint32_t>(word));
    worst = std::max(worst, std::fabs(0.5 * std::erfc(-x / std::numbers::sqrt2) / p - 1));
  }
  EXPECT_LT(worst, 2e-14);  // a rounding of x = -6.3 alone moves the tail by 6e-15
}

TEST(Normal, IsOdd) {
  for (const std::uint32_t word : {0u, 77u, 0x13333332u, 0x13333333u, 0x13333334u, 0x7fffffffu}) {
    EXPECT_EQ(normal_of_word(~word), -normal_of_word(word)) << word;
  }
}

TEST(Normal, RisesAcrossTheJoint) {
  for (std::uint32_t word = 0x13333300; word < 0x13333360; ++word) {
    EXPECT_LT(normal_of_word(word), normal_of_word(word + 1)) << word;
  }
}

}  // namespace
}  // namespace lockstep::arithmetic
