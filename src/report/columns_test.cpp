#include "report/columns.h"

#include <gtest/gtest.h>

namespace lockstep::report {
namespace {

TEST(Columns, AreCharactersWithoutEscapeSequences) {
  EXPECT_EQ(columns_of(""), 0);
  EXPECT_EQ(columns_of("epoch"), 5);
  EXPECT_EQ(columns_of("⠒⠒ ┤ä"), 5);
  EXPECT_EQ(columns_of("\x1b[36m⠒\x1b[0m mm"), 4);
}

TEST(Wrapped, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("the loss stayed at 2.303", 100), "the loss stayed at 2.303");
  EXPECT_EQ(wrapped("the loss stayed at 2.303", 24), "the loss stayed at 2.303");
  EXPECT_EQ(wrapped("the loss stayed at 2.303", 23), "the loss stayed at\n2.303");
  EXPECT_EQ(wrapped("the loss stayed at 2.303", 8), "the loss\nstayed\nat 2.303");
  EXPECT_EQ(wrapped("the loss", 1), "the\nloss");
}

TEST(SideBySide, PadsTheLeftAndKeepsItsExtraLines) {
  EXPECT_EQ(side_by_side("ab\n\x1b[36m⠒\x1b[0m\nabc\n", 5, "1\n2\n"), "ab   1\n\x1b[36m⠒\x1b[0m    2\nabc\n");
}

}  // namespace
}  // namespace lockstep::report
