#include "numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/nearest.h"
#include "report/figures.h"

namespace lockstep::app {
namespace {

// The number if the text is one and nothing else.
template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

bool within(int value, WholeRange range) { return range.least <= value && value <= range.most; }
bool positive(float value) { return std::isfinite(value) && value > 0; }

[[noreturn]] void refuse(std::string_view name, std::string_view expected, std::string_view found) {
  throw Error(Fault::usage, "{}: expected {}, found '{}'", name, expected, found);
}

[[noreturn]] void refuse_whole(std::string_view name, WholeRange range, std::string_view found) {
  refuse(
      name,
      fmt::format("a whole number from {} to {}", report::grouped(range.least), report::grouped(range.most)),
      found);
}

[[noreturn]] void refuse_positive(std::string_view name, std::string_view found) {
  refuse(name, "a finite number above 0", found);
}

}  // namespace

int whole_number(std::string_view name, std::string_view text, WholeRange range) {
  const std::optional<int> number = parse<int>(text);
  if (!number || !within(*number, range)) refuse_whole(name, range, text);
  return *number;
}

std::uint64_t seed_number(std::string_view name, std::string_view text) {
  const std::optional<std::uint64_t> number = parse<std::uint64_t>(text);
  if (!number) refuse(name, "a whole number from 0 to 2^64 - 1", text);
  return *number;
}

float positive_number(std::string_view name, std::string_view text) {
  const std::optional<float> number = parse<float>(text);
  if (!number || !positive(*number)) refuse_positive(name, text);
  return *number;
}

void expect_seconds(std::string_view name, double value) {
  const bool is_within = value >= 0.1 && value <= 1e6;  // false for NaN
  if (!is_within) refuse(name, "seconds from 0.1 to 1,000,000", fmt::format("{}", value));
}

double seconds_number(std::string_view name, std::string_view text) {
  const std::optional<double> number = parse<double>(text);
  if (!number) refuse(name, "seconds from 0.1 to 1,000,000", text);
  expect_seconds(name, *number);
  return *number;
}

double number(std::string_view name, std::string_view text) {
  const std::optional<double> value = parse<double>(text);
  if (!value) refuse(name, "a number", text);
  return *value;
}

float fraction(std::string_view name, std::string_view text) {
  const std::optional<float> number = parse<float>(text);
  const bool within_range = number && *number >= 0 && *number < 1;
  if (!within_range) refuse(name, "a number from 0 to below 1", text);
  return *number;
}

std::string known_name(std::string_view name, std::string_view text, std::span<const std::string> names) {
  if (std::ranges::find(names, text) == names.end())
    throw Error(Fault::usage, "{}: there is no '{}'{}", name, text, suggestion(text, names));
  return std::string(text);
}

std::filesystem::path given_path(std::string_view name, std::string_view text) {
  if (text.empty()) refuse(name, "a path", text);
  return text;
}

void expect_within(std::string_view name, int value, WholeRange range) {
  if (!within(value, range)) refuse_whole(name, range, fmt::format("{}", value));
}

void expect_positive(std::string_view name, float value) {
  if (!positive(value)) refuse_positive(name, fmt::format("{}", value));
}

}  // namespace lockstep::app
