#include "arithmetic/statistics.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"

namespace lockstep::arithmetic {
namespace {

// Numbers that floats hold exactly. The first channel has 0 and 2 on the left and six times 5 on the right;
// the second has three times 1 on the left and 9 on the right.
TEST(Statistics, OfTwoSetsAreThoseOfAllTheirValues) {
  std::vector<float> left{2, 3, 1, 1, 2, 0};
  const std::vector<float> right{6, 1, 5, 9, 0, 0};
  join_statistics(left.data(), right.data(), 2);
  EXPECT_THAT(left, SameBits(std::vector<float>{8, 4, 4, 3, 26, 48}));
}

TEST(Statistics, ASetWithoutValuesChangesNothing) {
  std::vector<float> left{4, -3, 7};
  const std::vector<float> right{0, 100, 0};
  join_statistics(left.data(), right.data(), 1);
  EXPECT_THAT(left, SameBits(std::vector<float>{4, -3, 7}));
}

}  // namespace
}  // namespace lockstep::arithmetic
