#include "gpu/build_log.h"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/refusal_for_test.h"

namespace lockstep::gpu {
namespace {

namespace fs = std::filesystem;

class BuildLogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "build_log_test.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  static std::string said(const std::string& log, const fs::path& directory) {
    return refusal_of(Fault::device, [&] { throw_build_error("opencl:1", "BUILD_FAILED", log, directory); });
  }

  fs::path directory_;
};

TEST_F(BuildLogTest, NamesTheFileThatHasTheLog) {
  const fs::path directory = directory_ / "made" / "when needed", log = directory / "opencl-1-kernels.log";
  EXPECT_EQ(said("first\nsecond\n", directory),
            "opencl:1: its compiler refuses the kernels (BUILD_FAILED); its log is " + log.string());
  std::ifstream file(log);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "first\nsecond\n");
}

TEST_F(BuildLogTest, SaysTheFirstLineWhereNoFileCanBe) {
  const std::string expected = "opencl:1: its compiler refuses the kernels (BUILD_FAILED): first";
  EXPECT_EQ(said("first\nsecond\n", {}), expected);
  std::ofstream(directory_ / "file") << "in the way";
  EXPECT_EQ(said("first\nsecond\n", directory_ / "file"), expected);
}

// Several ranks may fail at once, and another may be reading.
TEST_F(BuildLogTest, AnOlderLogIsReplacedAndNotWrittenOver) {
  const fs::path log = directory_ / "opencl-1-kernels.log";
  std::ofstream(log) << "older";
  std::ifstream reader(log);
  said("newer", directory_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "older");
  std::ifstream again(log);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(again), {}), "newer");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace lockstep::gpu
