#include "gpu/kept_file.h"

#include <fstream>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lockstep::gpu {
namespace {

namespace fs = std::filesystem;

class KeptFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "kept_file_test.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    before_ = ::umask(0);  // which takes nothing away
  }
  void TearDown() override {
    ::umask(before_);
    fs::remove_all(directory_);
  }
  static mode_t mode_of(const fs::path& path) {
    struct stat facts {};
    EXPECT_EQ(::stat(path.c_str(), &facts), 0);
    return facts.st_mode & 07777;
  }

  fs::path directory_;
  mode_t before_ = 0;
};

TEST_F(KeptFile, IsForItsUserAlone) {
  const fs::path path = directory_ / "made" / "when needed" / "file";
  EXPECT_EQ(kept_text(path, 100), std::nullopt);
  EXPECT_TRUE(try_to_keep(path, "text"));
  EXPECT_EQ(mode_of(directory_ / "made"), 0700u);
  EXPECT_EQ(mode_of(directory_ / "made" / "when needed"), 0700u);
  EXPECT_EQ(mode_of(path), 0600u);
  EXPECT_EQ(kept_text(path, 4), "text");
  EXPECT_EQ(kept_text(path, 3), std::nullopt);
}

TEST_F(KeptFile, CountsOnlyWhereNoOtherUserMayWrite) {
  const fs::path path = directory_ / "file";
  ASSERT_TRUE(try_to_keep(path, "text"));
  for (const mode_t mode : {0644u, 0600u, 0400u}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EQ(kept_text(path, 100), "text") << mode;
  }
  for (const mode_t mode : {0620u, 0602u, 0666u}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EQ(kept_text(path, 100), std::nullopt) << mode;
  }
  ASSERT_TRUE(try_to_keep(path, "again"));
  EXPECT_EQ(kept_text(path, 100), "again");
  for (const mode_t mode : {0770u, 0707u, 01777u}) {
    ASSERT_EQ(::chmod(directory_.c_str(), mode), 0);
    EXPECT_EQ(problem_with(directory_), "other users may write to it");
    EXPECT_EQ(kept_text(path, 100), std::nullopt) << mode;
    EXPECT_FALSE(try_to_keep(path, "more"));
  }
  ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
  EXPECT_EQ(problem_with(directory_), "");
  EXPECT_EQ(kept_text(path, 100), "again");
}

TEST_F(KeptFile, CountsOnlyIfItIsAFileOfItsOwn) {
  std::ofstream(directory_ / "elsewhere") << "text";
  ASSERT_EQ(::chmod((directory_ / "elsewhere").c_str(), 0600), 0);
  fs::create_symlink(directory_ / "elsewhere", directory_ / "link");
  EXPECT_EQ(kept_text(directory_ / "link", 100), std::nullopt);
  ASSERT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(kept_text(directory_ / "pipe", 100), std::nullopt);
  EXPECT_EQ(kept_text(directory_, 100), std::nullopt);
  EXPECT_EQ(problem_with(directory_ / "elsewhere"), "it is not a directory");
  EXPECT_EQ(problem_with(directory_ / "elsewhere" / "below"), "Not a directory");
}

TEST_F(KeptFile, CountsOnlyIfItBelongsToThisUser) {
  const fs::path path = directory_ / "file";
  ASSERT_TRUE(try_to_keep(path, "text"));
  if (::geteuid() != 0) {
    // Only root can give a file away; the directories of root are somebody else's.
    EXPECT_EQ(problem_with("/usr"), "it belongs to another user");
    EXPECT_EQ(kept_text("/etc/passwd", 1 << 20), std::nullopt);
    return;
  }
  constexpr uid_t kOther = 12345;
  ASSERT_EQ(::chown(path.c_str(), kOther, kOther), 0);
  EXPECT_EQ(kept_text(path, 100), std::nullopt);
  ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  EXPECT_EQ(kept_text(path, 100), "text");
  ASSERT_EQ(::chown(directory_.c_str(), kOther, kOther), 0);
  EXPECT_EQ(problem_with(directory_), "it belongs to another user");
  EXPECT_EQ(kept_text(path, 100), std::nullopt);
  EXPECT_FALSE(try_to_keep(path, "more"));
}

}  // namespace
}  // namespace lockstep::gpu
