#include "arithmetic/quarter_sine.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"

namespace lockstep::arithmetic {
namespace {

TEST(QuarterSine, EndsAtZeroAndOne) {
  EXPECT_THAT(quarter_sine(0), SameBits(0.0));
  EXPECT_THAT(quarter_sine(1), SameBits(1.0));
}

TEST(QuarterSine, IsWithinTwoUlpOfTheSystemsSine) {
  for (int i = 1; i <= 100'000; ++i) {
    const double u = i / 100'000.0, expected = std::sin(std::numbers::pi / 2 * u);
    const double ulp = std::nextafter(expected, 2.0) - expected;
    ASSERT_LE(std::abs(quarter_sine(u) - expected), 2 * ulp) << u;
  }
}

TEST(QuarterSine, FallsWithItsAngle) {
  double last = 1;
  for (int i = 1000; i-- > 0;) {
    const double sine = quarter_sine(i / 1000.0);
    ASSERT_LT(sine, last) << i;
    last = sine;
  }
}

}  // namespace
}  // namespace lockstep::arithmetic
