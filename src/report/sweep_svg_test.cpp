#include "report/sweep_svg.h"

#include <gtest/gtest.h>

#include "report/sweep_for_test.h"

namespace lockstep::report {
namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(SweepSvg, DrawsBothPlots) {
  const std::string svg = sweep_svg(sweep_of({0.1, 1}, {256}, {1, 2, 4}));
  for (const char* words :
       {">Test accuracy by learning rate<", ">Time by number of devices<", ">test accuracy<",
        ">seconds per epoch<", ">learning rate<", ">devices (log scale)<",
        ">batch 256; 1, 2, 4 devices: same bits<", ">lr 0.1<", ">lr 1<"}) {
    EXPECT_EQ(count(svg, words), 1) << words;
  }
  EXPECT_EQ(count(svg, "d=\"M96.0 215.5 L446.0 157.0\""), 1);                // 0.525 at 0.1, 0.75 at 1
  EXPECT_EQ(count(svg, "d=\"M586.0 144.0 L761.0 248.0 L936.0 300.0\""), 2);  // 2, 1, 0.5 of 2.5 s
  EXPECT_EQ(count(svg, "<circle"), 2 + 2 * 3);
  EXPECT_EQ(count(svg, ">diverged<"), 0);
}

TEST(SweepSvg, ARunThatDivergedIsACrossAndBreaksTheLine) {
  const std::string svg = sweep_svg(sweep_of({0.1, 1, 2}, {256}, {1}));
  EXPECT_EQ(count(svg, "l9 9 m0 -9 l-9 9"), 2);  // at the foot of the plot and in the legend
  EXPECT_EQ(count(svg, "M441.5 347.5 l9 9"), 1);
  EXPECT_EQ(count(svg, ">diverged<"), 1);
  EXPECT_EQ(count(svg, "nan"), 0);
}

TEST(SweepSvg, CrossesOfTwoLinesStandSideBySide) {
  const std::string svg = sweep_svg(sweep_of({0.1, 2}, {256, 512}, {1}));
  EXPECT_EQ(count(svg, "M436.0 347.5 l9 9"), 1);
  EXPECT_EQ(count(svg, "M447.0 347.5 l9 9"), 1);
}

TEST(SweepSvg, OneRunIsADotInTheMiddleOfEachPlot) {
  const std::string svg = sweep_svg(sweep_of({0.1}, {256}, {1}));
  EXPECT_EQ(count(svg, "<circle cx=\"271.0\""), 1);
  EXPECT_EQ(count(svg, "<circle cx=\"761.0\""), 1);
}

TEST(SweepSvg, GrowsWithItsLegendAndTellsTwelveLinesApart) {
  const std::vector<double> rates{0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.2, 0.3};
  const std::string svg = sweep_svg(sweep_of(rates, {256}, {1, 2}));
  EXPECT_EQ(count(svg, "height=\"454\""), 0);
  EXPECT_EQ(count(sweep_svg(sweep_of({0.1}, {256}, {1, 2})), "height=\"454\""), 2);
  EXPECT_EQ(count(svg, "stroke-dasharray=\"7 4\""), 2 * 4);  // lines 9 to 12 and their samples
}

TEST(SweepSvg, WithoutRowsOrWithNothingButDivergenceItIsStillAPicture) {
  for (const std::string& svg : {sweep_svg({}), sweep_svg(sweep_of({2, 3}, {256}, {1, 2}))}) {
    EXPECT_EQ(count(svg, "nan") + count(svg, "inf"), 0);
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
  }
}

}  // namespace
}  // namespace lockstep::report
