#include "report/ratio_axis.h"

#include <gtest/gtest.h>

namespace lockstep::report {
namespace {

constexpr SvgPlot kPlot{.left = 100, .right = 340, .top = 0, .bottom = 100};  // 200 pixels inside the insets

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RatioAxis, EqualRatiosAreEqualDistances) {
  const RatioAxis axis(kPlot, {4, 1, 2, 2});
  EXPECT_DOUBLE_EQ(axis.x_of(1), 120);
  EXPECT_DOUBLE_EQ(axis.x_of(2), 220);
  EXPECT_DOUBLE_EQ(axis.x_of(4), 320);
  EXPECT_TRUE(contains(axis.draw("devices"), ">devices (log scale)</text>"));
}

TEST(RatioAxis, ASingleValueStandsInTheMiddle) {
  const RatioAxis axis(kPlot, {0.1});
  EXPECT_EQ(axis.x_of(0.1), 220);
  EXPECT_TRUE(contains(axis.draw("learning rate"), ">learning rate</text>"));
}

TEST(RatioAxis, ZeroMakesItPlain) {
  const RatioAxis axis(kPlot, {0, 1, 4});
  EXPECT_DOUBLE_EQ(axis.x_of(1), 170);
  EXPECT_TRUE(contains(axis.draw("learning rate"), ">learning rate</text>"));
}

TEST(RatioAxis, LabelsThatWouldTouchAreLeftOutButNotTheirTicks) {
  const std::string text = RatioAxis(kPlot, {0.0001, 0.00011, 0.01, 0.99, 1}).draw("learning rate");
  for (const char* shown : {">0.0001<", ">0.01<", ">1<"}) EXPECT_TRUE(contains(text, shown)) << shown;
  for (const char* hidden : {">0.00011<", ">0.99<"}) EXPECT_FALSE(contains(text, hidden)) << hidden;
  std::size_t ticks = 0;
  for (std::size_t at = text.find("<line"); at != std::string::npos; at = text.find("<line", at + 1)) ++ticks;
  EXPECT_EQ(ticks, 5);
}

TEST(RatioAxis, WithoutValuesItIsItsName) {
  EXPECT_EQ(RatioAxis(kPlot, {}).draw("devices"), svg_bottom_name(kPlot, "devices"));
}

}  // namespace
}  // namespace lockstep::report
