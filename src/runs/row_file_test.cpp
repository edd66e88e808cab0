#include "runs/row_file.h"

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace lockstep::runs {
namespace {

namespace fs = std::filesystem;

class RowFileTest : public testing::Test {
 protected:
  RowFileTest() {
    std::string name = (fs::temp_directory_path() / "lockstep-row-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~RowFileTest() override { fs::remove_all(folder_); }

  fs::path path() const { return folder_ / "rows.csv"; }
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path()).rdbuf();
    return text.str();
  }

  fs::path folder_;
};

// No file of this process may grow past `bytes`, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_before_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_before_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_before_)(int);
};

TEST_F(RowFileTest, HoldsRowsOnceTheyAreFlushed) {
  RowFile file(path());
  file << "a,b\n" << std::flush << "1,2\n";
  EXPECT_EQ(content(), "a,b\n");
  file << std::flush;
  EXPECT_EQ(content(), "a,b\n1,2\n");
  EXPECT_TRUE(file.good());
}

TEST_F(RowFileTest, FlushesWhenItEnds) {
  RowFile(path()) << "last\n";
  EXPECT_EQ(content(), "last\n");
}

TEST_F(RowFileTest, KeepsOnlyWholeRowsOnAFullDisk) {
  RowFile file(path());
  {
    const FullDisk disk(10);
    file << "1234567\n" << std::flush;
    EXPECT_TRUE(file.good());
    file << "does not fit\n" << std::flush;
    EXPECT_TRUE(file.bad());
  }
  EXPECT_EQ(content(), "1234567\n");
}

TEST_F(RowFileTest, MakingItSafeFlushes) {
  RowFile file(path());
  file << "1\n";
  file.start_writing();
  EXPECT_EQ(content(), "1\n");
  file << "2\n";
  file.make_safe();
  EXPECT_EQ(content(), "1\n2\n");
  const FullDisk disk(5);
  file << "3\n";
  EXPECT_THROW(file.make_safe(), Error);
}

TEST_F(RowFileTest, RowsAreInARegularFile) {
  fs::create_symlink("elsewhere", path());
  EXPECT_THROW(RowFile(path(), RowFile::Begin::after_existing_rows), Error);
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
  fs::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_THROW(RowFile(path(), RowFile::Begin::after_existing_rows), Error)
      << "and does not wait for a reader";
}

TEST_F(RowFileTest, NeverTakesOverAFile) {
  std::ofstream(path()) << "older";
  try {
    const RowFile file(path());
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::ours);
    EXPECT_EQ(error.what(), path().string() + ": cannot create the file: File exists");
  }
  EXPECT_EQ(content(), "older");
}

}  // namespace
}  // namespace lockstep::runs
