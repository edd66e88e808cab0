#include "report/svg.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace lockstep::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr SvgPlot kPlot{.left = 10, .right = 110, .top = 20, .bottom = 220};

TEST(Svg, TheTitleIsText) {
  const std::string svg = svg_begin({.width = 9, .height = 8, .left = 7, .title = "<a&b>"});
  EXPECT_NE(svg.find("<title>&lt;a&amp;b&gt;</title>"), std::string::npos);
  EXPECT_NE(svg.find(R"(viewBox="0 0 9 8")"), std::string::npos);
}

TEST(Svg, APlotRunsFromBottomToTop) {
  EXPECT_EQ(kPlot.y_of(0), 220);
  EXPECT_EQ(kPlot.y_of(0.25), 170);
  EXPECT_EQ(kPlot.y_of(1), 20);
  EXPECT_EQ(kPlot.y_of(7), 20);
  EXPECT_EQ(kPlot.y_of(-7), 220);
}

TEST(Svg, ACurveBreaksWhereThereIsNoValue) {
  const std::vector<SvgPoint> points{{1, 2}, {3, 4}, {5, kNan}, {6, 7}};
  EXPECT_EQ(svg_curve(points, {.color = "red", .dashes = "2 3"}, SvgMarks::none),
            "<path d=\"M1.0 2.0 L3.0 4.0 M6.0 7.0\" fill=\"none\" stroke=\"red\" stroke-width=\"2.2\" "
            "stroke-linejoin=\"round\" stroke-dasharray=\"2 3\"/>\n");
}

TEST(Svg, ALonePointShowsAsItsDot) {
  const std::vector<SvgPoint> points{{1, 2}};
  const std::string svg = svg_curve(points, {.color = "red", .dashes = ""}, SvgMarks::dots);
  EXPECT_NE(svg.find(R"(<g fill="red"><circle cx="1.0" cy="2.0" r="3.2"/></g>)"), std::string::npos);
}

TEST(Svg, ACurveOfNothingIsNothing) {
  EXPECT_EQ(svg_curve({}, {.color = "red", .dashes = ""}, SvgMarks::dots), "");
  const std::vector<SvgPoint> points{{1, kNan}};
  EXPECT_EQ(svg_curve(points, {.color = "red", .dashes = ""}, SvgMarks::dots), "");
}

}  // namespace
}  // namespace lockstep::report
