#include "base/hex_float.h"

#include <array>
#include <charconv>
#include <cmath>

namespace lockstep {

std::string hex_float(float value) {
  if (std::isnan(value)) return "nan";
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "inf";
  std::array<char, 32> digits{};
  // As a double a denormal float begins with 1, like the others.
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                          std::abs(static_cast<double>(value)), std::chars_format::hex);
  return sign + "0x" + std::string(digits.data(), end);
}

}  // namespace lockstep
