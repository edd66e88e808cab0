#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "arithmetic/scalar.h"

namespace lockstep::arithmetic {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kSmallest = 0x1p-149f;         // denormal
constexpr double kOverflow = 0x1.ffffffp+127;  // from here on the nearest float is infinity

// The bounds elementary.inc and docs/arithmetic.md state, found over all floats.
constexpr double kExpUlps = 0.86, kExpDenormalUlps = 0.75, kLogUlps = 0.89;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

// Distance in units of the last place that a float near `exact` has.
double ulps(float value, double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::fabs(value - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

// Every 97th float: all exponents, all kinds.
template <class Visit>
void visit_floats(Visit visit) {
  for (std::uint64_t i = 0; i < (std::uint64_t{1} << 32); i += 97) {
    visit(std::bit_cast<float>(static_cast<std::uint32_t>(i)));
  }
}

TEST(Exp, StaysWithinItsBound) {
  double worst = 0, worst_denormal = 0;
  visit_floats([&](float x) {
    if (std::isnan(x)) return;
    const double exact = std::exp(static_cast<double>(x));
    const float value = exp_law(x);
    if (exact >= kOverflow) {
      ASSERT_EQ(value, kInfinity) << x;
    } else if (exact >= 0x1p-126) {
      worst = std::max(worst, ulps(value, exact));
    } else {
      ASSERT_FALSE(std::signbit(value)) << x;
      worst_denormal = std::max(worst_denormal, ulps(value, exact));
    }
  });
  EXPECT_LT(worst, kExpUlps);
  EXPECT_LT(worst_denormal, kExpDenormalUlps);
}

TEST(Log, StaysWithinItsBound) {
  double worst = 0;
  visit_floats([&](float x) {
    if (std::isfinite(x) && x > 0)
      worst = std::max(worst, ulps(log_law(x), std::log(static_cast<double>(x))));
  });
  EXPECT_LT(worst, kLogUlps);
}

TEST(Exp, IsExactWhereTheLawSaysSo) {
  EXPECT_EQ(bits(exp_law(0.0f)), bits(1.0f));
  EXPECT_EQ(bits(exp_law(-0.0f)), bits(1.0f));
  EXPECT_EQ(bits(exp_law(-kInfinity)), bits(0.0f));
  EXPECT_EQ(bits(exp_law(-1e30f)), bits(0.0f));
  EXPECT_EQ(exp_law(kInfinity), kInfinity);
  EXPECT_EQ(exp_law(1e30f), kInfinity);
  EXPECT_TRUE(std::isnan(exp_law(kNan)));
}

TEST(Exp, UnderflowsGradually) {
  EXPECT_EQ(exp_law(-103.0f), kSmallest);         // 1.3 of the smallest denormal
  EXPECT_EQ(bits(exp_law(-104.0f)), bits(0.0f));  // 0.48 of it
  EXPECT_EQ(exp_law(-90.0f), static_cast<float>(std::exp(-90.0)));
  EXPECT_LT(exp_law(-90.0f), 0x1p-126f);
}

TEST(Exp, OverflowsWhereTheResultDoes) {
  EXPECT_LT(exp_law(0x1.62e42ep+6f), kInfinity);  // the last float with a finite result
  EXPECT_EQ(exp_law(0x1.62e430p+6f), kInfinity);
}

TEST(Log, IsExactWhereTheLawSaysSo) {
  EXPECT_EQ(bits(log_law(1.0f)), bits(0.0f));
  EXPECT_EQ(log_law(0.0f), -kInfinity);
  EXPECT_EQ(log_law(-0.0f), -kInfinity);
  EXPECT_EQ(log_law(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(log_law(-1.0f)));
  EXPECT_TRUE(std::isnan(log_law(-kSmallest)));
  EXPECT_TRUE(std::isnan(log_law(-kInfinity)));
  EXPECT_TRUE(std::isnan(log_law(kNan)));
}

TEST(Log, KnowsDenormals) {
  EXPECT_EQ(log_law(kSmallest), static_cast<float>(std::log(0x1p-149)));
  EXPECT_EQ(log_law(0x1.8p-140f), static_cast<float>(std::log(0x1.8p-140)));
}

}  // namespace
}  // namespace lockstep::arithmetic
