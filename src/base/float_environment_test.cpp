#include "base/float_environment.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/strange_floats_for_test.h"

namespace lockstep {
namespace {

// Sums and products that every environment but the law's gets wrong, computed where they stand.
struct Sums {
  volatile float below = 0x1p+24f, above = 0x1.000002p+24f, one = 1.0f, smallest = 0x1p-149f,
                 small = 0x1p-126f, half = 0.5f;

  bool exact() const {
    const volatile float down = below + one, up = above + one, minus_up = -above - one;
    const volatile float kept = smallest + smallest, made = small * half, read = smallest * 0x1p+100f;
    return down == 0x1p+24f && up == 0x1.000004p+24f && minus_up == -0x1.000004p+24f && kept > 0 &&
           made > 0 && read == 0x1p-49f;
  }
};

class StrangeFloatsTest : public testing::TestWithParam<StrangeFloats> {};

TEST_P(StrangeFloatsTest, AreSetAsideAndGivenBack) {
  const Sums sums;
  EXPECT_TRUE(sums.exact());
  const InStrangeFloats strange(GetParam());
  const bool exact_outside = sums.exact();
  bool exact_inside = false;
  {
    const FloatEnvironment environment;
    exact_inside = sums.exact();
  }
  const bool unchanged = strange.unchanged();
  std::fesetenv(FE_DFL_ENV);  // the test's own tools may count on it
  EXPECT_FALSE(exact_outside);
  EXPECT_TRUE(exact_inside);
  EXPECT_TRUE(unchanged);
}

INSTANTIATE_TEST_SUITE_P(All, StrangeFloatsTest, testing::ValuesIn(strange_floats()));

#if defined(__x86_64__)  // other processors have no traps
TEST(FloatEnvironment, ExceptionsDoNotTrapInside) {
  std::feclearexcept(FE_ALL_EXCEPT);
  ASSERT_NE(feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT), -1);
  volatile float zero = 0, quotient = 0;
  {
    const FloatEnvironment environment;
    quotient = 1 / zero;
  }
  const int noted = std::fetestexcept(FE_DIVBYZERO), trapping = fegetexcept();
  fedisableexcept(FE_ALL_EXCEPT);
  EXPECT_EQ(quotient, std::numeric_limits<float>::infinity());
  EXPECT_EQ(noted, 0);
  EXPECT_NE(trapping, 0);
}
#endif

}  // namespace
}  // namespace lockstep
