// x = 2^k (1 + f), s = f / (2 + f), log(1 + f) = 2 s (1 + s^2/3 + s^4/5 + ...): with 1 + f between the square
// roots of 1/2 and 2, s^2 is below 0.0295 and the first term left out, s^24/25, below 2^-65 of the sum.
#include "arithmetic/double_log.h"

#include <cmath>

#include "base/error.h"

namespace lockstep::arithmetic {
namespace {

constexpr double kSquareRootOfHalf = 0x1.6a09e667f3bcdp-1;
constexpr double kLn2High = 0x1.62e42fefa4p-1;  // 40 bits: times an exponent it is exact
constexpr double kLn2Low = -0x1.8432a1b0e2634p-43;
constexpr int kTerms = 11;  // s^2/3 .. s^22/23

}  // namespace

double log_double(double x) {
  check(std::isnormal(x) && x > 0, "log_double of {}", x);
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // in [1/2, 1)
  if (mantissa < kSquareRootOfHalf) {
    mantissa *= 2;
    --exponent;
  }
  const double f = mantissa - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  double series = 1.0 / (2 * kTerms + 1);
  for (int term = kTerms - 1; term >= 1; --term) series = std::fma(series, z, 1.0 / (2 * term + 1));
  const double twice = 2 * s;
  const double k = exponent;
  const double small = std::fma(k, kLn2Low, (twice * z) * series);
  return std::fma(k, kLn2High, twice + small);
}

}  // namespace lockstep::arithmetic
