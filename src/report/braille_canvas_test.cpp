#include "report/braille_canvas.h"

#include <gtest/gtest.h>

namespace lockstep::report {
namespace {

std::string picture(const BrailleCanvas& canvas, int columns, int rows) {
  std::string text;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) text += canvas.cell(column, row);
    text += '\n';
  }
  return text;
}

TEST(BrailleCanvas, EveryDotHasItsPlace) {
  const char* expected[4][2] = {{"⠁", "⠈"}, {"⠂", "⠐"}, {"⠄", "⠠"}, {"⡀", "⢀"}};
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 2; ++x) {
      BrailleCanvas canvas(1, 1);
      EXPECT_TRUE(canvas.empty(0, 0));
      canvas.set({x, y});
      EXPECT_FALSE(canvas.empty(0, 0));
      EXPECT_EQ(canvas.cell(0, 0), expected[y][x]);
    }
  }
}

TEST(BrailleCanvas, AStraightWayHasNoGap) {
  BrailleCanvas canvas(3, 2);
  canvas.set({0, 7});
  for (Dot dot : dots_between({0, 7}, {5, 0})) canvas.set(dot);
  EXPECT_EQ(picture(canvas, 3, 2), "⠀⢀⠎\n⡰⠁⠀\n");
  EXPECT_TRUE(dots_between({2, 2}, {2, 2}).empty());
}

TEST(BrailleCanvas, WhatLiesOutsideIsIgnored) {
  BrailleCanvas canvas(1, 1);
  canvas.set({2, 0});
  canvas.set({0, 4});
  canvas.set({-1, 0});
  canvas.set({0, -1});
  EXPECT_TRUE(canvas.empty(0, 0));
}

}  // namespace
}  // namespace lockstep::report
