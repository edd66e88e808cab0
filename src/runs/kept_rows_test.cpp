#include "runs/kept_rows.h"

#include <fstream>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace lockstep::runs {
namespace {

namespace fs = std::filesystem;

class KeptRowsTest : public testing::Test {
 protected:
  KeptRowsTest() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-kept-rows-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~KeptRowsTest() override { fs::remove_all(directory_); }

  fs::path file_with(const std::string& text) const {
    std::ofstream(directory_ / "rows", std::ios::binary) << text;
    return directory_ / "rows";
  }
  KeptRows all_rows_of(const std::string& text) const {
    return leading_rows(file_with(text), [](std::string_view) { return true; });
  }

  fs::path directory_;
};

// The file is read in blocks of 1 MiB; rows do not end where blocks do.
TEST_F(KeptRowsTest, RowsMayBeLongerThanABlock) {
  std::string text;
  for (const std::size_t length : {1U, 700000U, 700000U, 3000000U, 0U, 1048576U})
    text += std::string(length, 'x') + "\n";
  const KeptRows whole = all_rows_of(text);
  EXPECT_TRUE(whole.rows == text);
  EXPECT_TRUE(whole.all);
  const KeptRows cut = all_rows_of(text + "no end");
  EXPECT_TRUE(cut.rows == text);
  EXPECT_FALSE(cut.all);
}

TEST_F(KeptRowsTest, ALineWithoutAnEndIsGivenUp) {
  const std::string row = "row\n";
  const KeptRows kept = all_rows_of(row + std::string(20 << 20, 'x') + "\n" + row);
  EXPECT_EQ(kept.rows, row);
  EXPECT_FALSE(kept.all);
}

TEST_F(KeptRowsTest, NothingIsAskedAfterTheFirstRowThatIsNotWanted) {
  int asked = 0;
  const KeptRows kept = leading_rows(file_with("1\n2\n3\n"), [&](std::string_view row) {
    ++asked;
    return row == "1";
  });
  EXPECT_EQ(kept.rows, "1\n");
  EXPECT_FALSE(kept.all);
  EXPECT_EQ(asked, 2);
}

TEST_F(KeptRowsTest, AFileThatIsNotThereOrEmptyHasNone) {
  for (const KeptRows& none : {leading_rows(directory_ / "none", {}), all_rows_of("")})
    EXPECT_EQ(none.rows, "");
}

}  // namespace
}  // namespace lockstep::runs
