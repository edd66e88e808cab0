#include "model/shape.h"

#include <gtest/gtest.h>

namespace lockstep::model {
namespace {

TEST(Shape, PrintsFlatAsOneNumber) {
  EXPECT_EQ(to_string(Shape{20, 26, 26}), "20x26x26");
  EXPECT_EQ(to_string(Shape{3, 1, 2}), "3x1x2");
  EXPECT_EQ(to_string(Shape{128, 1, 1}), "128");
}

}  // namespace
}  // namespace lockstep::model
