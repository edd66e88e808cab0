// Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37
// (1988), routine PPND16: two rational functions of degree 7, relative error about 1e-16. Its third one, for
// probabilities below e^-25, is not reached by 32-bit words. Checked against erfc in normal_test.cpp.
#include "arithmetic/normal.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "arithmetic/double_log.h"

namespace lockstep::arithmetic {
namespace {

using Coefficients = std::array<double, 8>;  // of r^0 .. r^7

constexpr double kCentral = 0.425, kCentralSquare = 0.180625;  // |p - 1/2| of the central part
constexpr double kTailShift = 1.6;

constexpr Coefficients kA{3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                          1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                          3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr Coefficients kB{1.0,
                          4.2313330701600911252e+1,
                          6.8718700749205790830e+2,
                          5.3941960214247511077e+3,
                          2.1213794301586595867e+4,
                          3.9307895800092710610e+4,
                          2.8729085735721942674e+4,
                          5.2264952788528545610e+3};
constexpr Coefficients kC{1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                          3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                          2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr Coefficients kD{1.0,
                          2.05319162663775882187e0,
                          1.67638483018380384940e0,
                          6.89767334985100004550e-1,
                          1.48103976427480074590e-1,
                          1.51986665636164571966e-2,
                          5.47593808499534494600e-4,
                          1.05075007164441684324e-9};

double polynomial(const Coefficients& coefficients, double r) {
  double sum = coefficients.back();
  for (std::size_t i = coefficients.size() - 1; i-- > 0;) sum = std::fma(sum, r, coefficients[i]);
  return sum;
}

}  // namespace

double normal_of_word(std::uint32_t word) {
  const double p = (static_cast<double>(word) + 0.5) * 0x1p-32;  // exact
  const double q = p - 0.5;
  if (std::fabs(q) <= kCentral) {
    const double r = std::fma(-q, q, kCentralSquare);
    return (q * polynomial(kA, r)) / polynomial(kB, r);
  }
  const double tail = q < 0 ? p : 1 - p;
  const double r = std::sqrt(-log_double(tail)) - kTailShift;
  const double magnitude = polynomial(kC, r) / polynomial(kD, r);
  return q < 0 ? -magnitude : magnitude;
}

}  // namespace lockstep::arithmetic
