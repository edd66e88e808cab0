// How a test compares numbers whose bits the law fixes: == would take -0 for +0, and no NaN for another. The
// bits of a NaN are outside the law, so that any two NaNs are the same.
//   EXPECT_THAT(found, SameBits(expected));
// takes a float, a double, and containers of them of any depth; it tells of the first element that differs.
#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace lockstep {

// Where `found` begins to differ, or nothing.
template <std::floating_point Number>
std::string bit_difference(Number expected, Number found) {
  using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  const Bits wanted = std::bit_cast<Bits>(expected), seen = std::bit_cast<Bits>(found);
  if (wanted == seen || (expected != expected && found != found)) return {};
  constexpr int kDigits = 2 * static_cast<int>(sizeof(Bits));
  return fmt::format("{} (0x{:0{}x}), expected {} (0x{:0{}x})", found, seen, kDigits, expected, wanted,
                     kDigits);
}

template <class Expected, class Found>
  requires requires(const Expected& e, const Found& f) { std::size(e), std::size(f); }
std::string bit_difference(const Expected& expected, const Found& found) {
  if (std::size(expected) != std::size(found))
    return fmt::format("{} elements, expected {}", std::size(found), std::size(expected));
  auto wanted = std::begin(expected);
  std::size_t index = 0;
  for (const auto& seen : found) {
    const std::string difference = bit_difference(*wanted++, seen);
    if (!difference.empty()) return fmt::format("element {}: {}", index, difference);
    ++index;
  }
  return {};
}

template <class Expected>
class SameBitsMatcher {
 public:
  using is_gtest_matcher = void;
  explicit SameBitsMatcher(Expected expected) : expected_(std::move(expected)) {}

  template <class Found>
  bool MatchAndExplain(const Found& found, std::ostream* out) const {
    const std::string difference = bit_difference(expected_, found);
    if (out != nullptr && !difference.empty()) *out << "which has " << difference;
    return difference.empty();
  }
  void DescribeTo(std::ostream* out) const { *out << "the same bits as expected"; }
  void DescribeNegationTo(std::ostream* out) const { *out << "other bits than expected"; }

 private:
  const Expected expected_;
};

template <class Expected>
SameBitsMatcher<Expected> SameBits(Expected expected) {
  return SameBitsMatcher<Expected>(std::move(expected));
}

}  // namespace lockstep
