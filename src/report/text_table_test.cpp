#include "report/text_table.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace lockstep::report {
namespace {

using Rows = std::vector<std::vector<std::string>>;
const std::vector<TextColumn> kColumns{
    {.title = "name"}, {.title = "n", .align = TextColumn::Align::right}, {.title = "note"}};

TEST(TextTable, AlignsToTheWidestCell) {
  EXPECT_EQ(text_table(kColumns, Rows{{"a", "1", ""}, {"longer", "200", "x"}}),
            "name      n  note\n"
            "a         1\n"
            "longer  200  x\n");
}

TEST(TextTable, WithoutRowsItIsItsTitles) { EXPECT_EQ(text_table(kColumns, Rows{}), "name  n  note\n"); }

TEST(TextTable, ARowOfTheWrongLengthIsADefect) {
  EXPECT_THROW(text_table(kColumns, Rows{{"a", "1"}}), Error);
}

}  // namespace
}  // namespace lockstep::report
