#include "reference/pack_tree.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"

namespace lockstep::reference {
namespace {

constexpr float kBig = 0x1p+30f;

TEST(PackTreeTwin, SplitsAtThePowerOfTwoBelow) {
  EXPECT_THAT(pack_tree(std::vector{3.0f}), SameBits(3.0f));
  EXPECT_THAT(pack_tree(std::vector{1.0f, kBig, -kBig}), SameBits(0.0f));        // (a + b) + c
  EXPECT_THAT(pack_tree(std::vector{kBig, -kBig, 1.0f, 1.0f}), SameBits(2.0f));  // (a + b) + (c + d)
  EXPECT_THAT(pack_tree(std::vector{kBig, 1.0f, -kBig, 1.0f}), SameBits(0.0f));
  EXPECT_THAT(pack_tree(std::vector{1.0f, 1.0f, 1.0f, 1.0f, kBig, -kBig}), SameBits(4.0f));  // four, then two
}

}  // namespace
}  // namespace lockstep::reference
