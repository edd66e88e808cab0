#include "base/directory.h"

#include <fstream>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/refusal_for_test.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

class DirectoryTest : public testing::Test {
 protected:
  DirectoryTest() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-directory-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~DirectoryTest() override { fs::remove_all(root_); }

  fs::path root_;
};

TEST_F(DirectoryTest, IsMadeOnce) {
  EXPECT_TRUE(make_directory(root_ / "a"));
  EXPECT_FALSE(make_directory(root_ / "a"));
  std::ofstream(root_ / "file") << "x";
  EXPECT_FALSE(make_directory(root_ / "file"));
  EXPECT_EQ(refusal_of(Fault::ours, [&] { make_directory(root_ / "absent" / "a"); }),
            (root_ / "absent/a").string() + ": cannot make the directory: No such file or directory");
}

TEST_F(DirectoryTest, ThoseAboveAreMadeToo) {
  for (const char* name : {"a/b/c", "slash/es/", "a/b/../d/e", "./f//g"}) {
    make_directories(root_ / name);
    EXPECT_TRUE(fs::is_directory(root_ / name)) << name;
    EXPECT_NO_THROW(make_directories(root_ / name)) << name;
  }
  fs::create_directory_symlink("a", root_ / "link");
  make_directories(root_ / "link" / "h");
  EXPECT_TRUE(fs::is_directory(root_ / "a/h"));
}

TEST_F(DirectoryTest, AFileOnTheWayIsNamed) {
  std::ofstream(root_ / "file") << "x";
  const std::string expected = (root_ / "file").string() + ": cannot make the directory: Not a directory";
  EXPECT_EQ(refusal_of(Fault::ours, [&] { make_directories(root_ / "file"); }), expected);
  EXPECT_EQ(refusal_of(Fault::ours, [&] { make_directories(root_ / "file/a/b"); }), expected);
}

TEST_F(DirectoryTest, OneThatIsNotThereCannotBeFlushed) {
  EXPECT_NO_THROW(sync_directory(root_));
  EXPECT_EQ(refusal_of(Fault::ours, [&] { sync_directory(root_ / "absent"); }),
            (root_ / "absent").string() + ": cannot flush the directory: No such file or directory");
}

TEST(DirectoryOf, IsTheWorkingDirectoryForABareName) {
  EXPECT_EQ(directory_of("a"), ".");
  EXPECT_EQ(directory_of("a/b"), "a");
  EXPECT_EQ(directory_of("/a"), "/");
}

}  // namespace
}  // namespace lockstep
