#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"

namespace lockstep {
namespace {

using ::testing::Not;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(SameBits, TellsZerosApartAndNansNot) {
  EXPECT_THAT(0.0f, SameBits(0.0f));
  EXPECT_THAT(-0.0f, Not(SameBits(0.0f)));
  EXPECT_THAT(-0.0, Not(SameBits(0.0)));
  EXPECT_THAT(-kNan, SameBits(kNan));
  EXPECT_THAT(kNan, Not(SameBits(1.0f)));
  EXPECT_THAT(1.0f, Not(SameBits(kNan)));
}

TEST(SameBits, NamesTheFirstElementThatDiffers) {
  const std::vector<std::vector<float>> expected{{1}, {2, 0}}, found{{1}, {2, -0.0f}};
  EXPECT_EQ(bit_difference(expected, found),
            "element 1: element 1: -0 (0x80000000), expected 0 (0x00000000)");
  EXPECT_EQ(bit_difference(expected, expected), "");
  EXPECT_EQ(bit_difference(std::span(expected[1]), std::vector<float>{2}), "1 elements, expected 2");
  EXPECT_EQ(bit_difference(1.0, 1.5), "1.5 (0x3ff8000000000000), expected 1 (0x3ff0000000000000)");
  EXPECT_THAT(found, Not(SameBits(expected)));
}

}  // namespace
}  // namespace lockstep
