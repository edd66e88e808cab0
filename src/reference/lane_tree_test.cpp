#include "reference/lane_tree.h"

#include <array>

#include <gtest/gtest.h>

#include "arithmetic/tree.h"
#include "base/same_bits_for_test.h"

namespace lockstep::arithmetic {
namespace {

TEST(LaneTreeTwin, AddsDistantLanesFirst) {
  std::array<float, 16> lanes{};
  lanes[0] = 1.0f;
  lanes[8] = 0x1p+30f;  // swallows lane 0 at once,
  lanes[4] = -0x1p+30f;
  lanes[12] = 1.0f;  // and this one too
  EXPECT_THAT(reference::lane_tree(lanes), SameBits(0.0f));
  std::swap(lanes[8], lanes[12]);  // lane 0 + lane 8 are kept together
  EXPECT_THAT(reference::lane_tree(lanes), SameBits(2.0f));
}

TEST(LaneTreeTwin, EqualsTheLawsLoop) {
  std::array<float, 16> lanes{};
  float value = 1.0f;
  for (int trial = 0; trial < 100; ++trial) {
    for (float& lane : lanes) {
      value = value * 1.37f;
      if (value > 100.0f) value -= 199.3f;
      lane = value;
    }
    EXPECT_THAT(reference::lane_tree(lanes), SameBits(lane_tree(lanes)));
  }
}

}  // namespace
}  // namespace lockstep::arithmetic
