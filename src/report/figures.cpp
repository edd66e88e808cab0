#include "report/figures.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace lockstep::report {
namespace {

// JSON knows no NaN and no infinity.
template <class Float>
std::string shortest_or_null(Float value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

constexpr double kLongestShown = 359'999;  // 99:59:59

}  // namespace

std::string grouped(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  const std::ptrdiff_t first = number < 0 ? 1 : 0;
  for (std::ptrdiff_t i = std::ssize(digits) - 3; i > first; i -= 3) {
    digits.insert(static_cast<std::size_t>(i), 1, ',');
  }
  return digits;
}

std::string clock_time(double seconds) {
  const auto total = static_cast<std::int64_t>(std::ceil(std::clamp(seconds, 0.0, kLongestShown)));
  const std::int64_t hours = total / 3600, minutes = total / 60 % 60, rest = total % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, rest)
                   : fmt::format("{}:{:02}", minutes, rest);
}

std::string json_number(float value) { return shortest_or_null(value); }
std::string json_number(double value) { return shortest_or_null(value); }

}  // namespace lockstep::report
