#include "base/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace lockstep {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Levenshtein distance, one row at a time; upper and lower case count as the same letter.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// A third of the letters may be wrong: 'lnet' means lenet, 'abc' does not mean mlp.
bool near_enough(std::size_t edits, std::size_t length) {
  return edits < length && edits <= (length + 2) / 3;
}

constexpr std::size_t kLongestTypo =
    100;  // longer text is no typing error, and not worth the square of its length

}  // namespace

std::string nearest_name(std::string_view typed, std::span<const std::string> names) {
  if (typed.size() > kLongestTypo) return {};
  std::string nearest;
  std::size_t fewest = kLongestTypo + 1;
  for (const std::string& name : names) {
    const std::size_t edits = edits_between(typed, name);
    if (edits >= fewest || !near_enough(edits, std::max(typed.size(), name.size()))) continue;
    fewest = edits;
    nearest = name;
  }
  return nearest;
}

std::string suggestion(std::string_view typed, std::span<const std::string> names) {
  const std::string nearest = nearest_name(typed, names);
  if (!nearest.empty()) return fmt::format("; did you mean '{}'?", nearest);
  if (names.empty()) return "; there are none";
  return fmt::format("; there are {}", fmt::join(names, ", "));
}

}  // namespace lockstep
