// x = pi/2 * u, sin(x) = x - x^3/3! + x^5/5! - ... - x^23/23!: with x up to pi/2 the first term left out,
// x^25/25!, is below 2^-66.
#include "arithmetic/quarter_sine.h"

#include <array>
#include <cmath>

#include "base/error.h"

namespace lockstep::arithmetic {
namespace {

constexpr double kHalfPi = 0x1.921fb54442d18p+0;

// -1/23!, 1/21!, .., -1/3!
constexpr std::array kCoefficients{-0x1.761b41316381ap-75, 0x1.71b8ef6dcf572p-66,  -0x1.2f49b46814157p-57,
                                   0x1.952c77030ad4ap-49,  -0x1.ae7f3e733b81fp-41, 0x1.6124613a86d09p-33,
                                   -0x1.ae64567f544e4p-26, 0x1.71de3a556c734p-19,  -0x1.a01a01a01a01ap-13,
                                   0x1.1111111111111p-7,   -0x1.5555555555555p-3};

}  // namespace

double quarter_sine(double u) {
  check(u >= 0 && u <= 1, "quarter_sine of {}", u);
  const double x = u * kHalfPi;
  const double z = x * x;
  double series = 0;
  for (const double coefficient : kCoefficients) series = std::fma(series, z, coefficient);
  return std::fma(x * z, series, x);
}

}  // namespace lockstep::arithmetic
