#include "arithmetic/pack.h"

#include <gtest/gtest.h>

namespace lockstep::arithmetic {
namespace {

TEST(PackCount, RoundsUp) {
  EXPECT_EQ(pack_count(1), 1);
  EXPECT_EQ(pack_count(16), 1);
  EXPECT_EQ(pack_count(17), 2);
  EXPECT_EQ(pack_count(256), 16);
}

}  // namespace
}  // namespace lockstep::arithmetic
