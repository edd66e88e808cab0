#include "arithmetic/double_log.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "base/same_bits_for_test.h"

namespace lockstep::arithmetic {
namespace {

TEST(DoubleLog, IsExactAtOne) { EXPECT_THAT(log_double(1.0), SameBits(0.0)); }

TEST(DoubleLog, StaysWithinTwoUlps) {
  double worst = 0;
  for (std::uint64_t block = 0; block < 200'000; ++block) {
    const auto words = random_block(1, block, 0, 0);
    const int exponent = static_cast<int>(words[2] % 2000) - 1000;
    const double x = std::ldexp(1 + words[0] * 0x1p-32 + words[1] * 0x1p-64, block % 2 == 0 ? 0 : exponent);
    const long double exact = std::log(static_cast<long double>(x));
    if (exact == 0) continue;
    const double ulp = std::ldexp(1.0, std::ilogb(exact) - 52);
    worst = std::max(worst, static_cast<double>(std::fabs(log_double(x) - exact)) / ulp);
  }
  EXPECT_LT(worst, 2.0);
}

TEST(DoubleLog, RefusesWhatItDoesNotKnow) {
  for (const double x : {0.0, -1.0, 0x1p-1070, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(log_double(x), Error) << x;
  }
}

}  // namespace
}  // namespace lockstep::arithmetic
