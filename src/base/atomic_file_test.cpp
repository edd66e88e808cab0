#include "base/atomic_file.h"

#include <csignal>
#include <fstream>
#include <iterator>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/refusal_for_test.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class AtomicFileTest : public testing::Test {
 protected:
  AtomicFileTest() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-atomic-file-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~AtomicFileTest() override { fs::remove_all(directory_); }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory_)) found.push_back(entry.path().filename());
    return found;
  }

  fs::path directory_;
};

TEST_F(AtomicFileTest, WritesAndReplaces) {
  const fs::path path = directory_ / "a.txt";
  write_file_atomically(path, "first, and longer");
  EXPECT_EQ(content_of(path), "first, and longer");
  write_file_atomically(path, "second");
  EXPECT_EQ(content_of(path), "second");
  EXPECT_THAT(names(), ElementsAre("a.txt"));
}

TEST_F(AtomicFileTest, NothingShowsBeforeCommit) {
  const fs::path path = directory_ / "a.txt";
  write_file_atomically(path, "old");
  {
    AtomicFile file(path);
    file.write("new");
    EXPECT_EQ(content_of(path), "old");
    EXPECT_EQ(names().size(), 2u);
  }
  EXPECT_EQ(content_of(path), "old");
  EXPECT_THAT(names(), ElementsAre("a.txt"));
}

TEST_F(AtomicFileTest, TwoWritersOfOnePathDoNotMix) {
  const fs::path path = directory_ / "a.txt";
  AtomicFile one(path), two(path);
  one.write("one");
  two.write("two");
  one.commit();
  EXPECT_EQ(content_of(path), "one");
  two.commit();
  EXPECT_EQ(content_of(path), "two");
}

TEST_F(AtomicFileTest, MissingDirectoryIsNamed) {
  const fs::path path = directory_ / "absent" / "a.txt";
  EXPECT_EQ(refusal_of(Fault::ours, [&] { write_file_atomically(path, "x"); }),
            path.string() + ": cannot create the file: No such file or directory");
}

TEST_F(AtomicFileTest, AFileInPlaceOfTheDirectoryIsNamed) {
  write_file_atomically(directory_ / "file", "x");
  EXPECT_THAT(refusal_of(Fault::ours, [&] { write_file_atomically(directory_ / "file" / "a.txt", "x"); }),
              HasSubstr("Not a directory"));
}

TEST_F(AtomicFileTest, OnlyARegularFileIsReplaced) {
  const fs::path taken = directory_ / "taken", target = directory_ / "target";
  const auto expect_refused = [&](const std::string& found) {
    const std::string expected =
        taken.string() + ": expected a regular file or nothing, found " + found + "; name another file";
    EXPECT_EQ(refusal_of(Fault::ours, [&] { write_file_atomically(taken, "x"); }), expected);
    const fs::file_type type = fs::symlink_status(taken).type();
    const fs::path aside = directory_ / "aside";
    fs::rename(taken, aside);
    {
      // What comes while the file is written is not replaced either.
      AtomicFile file(taken);
      file.write("x");
      fs::rename(aside, taken);
      EXPECT_EQ(refusal_of(Fault::ours, [&] { file.commit(); }), expected);
    }
    EXPECT_EQ(fs::symlink_status(taken).type(), type);
    EXPECT_THAT(names(), testing::UnorderedElementsAre("taken", "target"));
    fs::remove(taken);
  };
  write_file_atomically(target, "keep");
  fs::create_directory(taken);
  expect_refused("a directory");
  fs::create_symlink("target", taken);
  expect_refused("a symbolic link");
  fs::create_symlink("nowhere", taken);
  expect_refused("a symbolic link");
  ASSERT_EQ(::mkfifo(taken.c_str(), 0600), 0);
  expect_refused("a pipe");
  EXPECT_EQ(content_of(target), "keep");
  EXPECT_THAT(refusal_of(Fault::ours, [] { write_file_atomically("/dev/null", "x"); }),
              HasSubstr("found a device"));
}

// A full disk, as any user can have one: a child process whose files may not grow past 4 KiB.
TEST_F(AtomicFileTest, WhenTheDiskIsFullTheOldFileStaysAndTheTemporaryGoes) {
  const fs::path path = directory_ / "a.txt";
  write_file_atomically(path, "old");
  enum Outcome { as_promised = 0, not_refused, wrong_message };
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message =
        refusal_of(Fault::ours, [&] { write_file_atomically(path, std::string(100000, 'n')); });
    if (message.empty()) ::_exit(not_refused);
    ::_exit(!HasFailure() && message == path.string() + ": cannot write the file: File too large"
                ? as_promised
                : wrong_message);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), as_promised);
  EXPECT_EQ(content_of(path), "old");
  EXPECT_THAT(names(), ElementsAre("a.txt"));
}

TEST_F(AtomicFileTest, UseAfterCommitIsADefect) {
  AtomicFile file(directory_ / "a.txt");
  file.commit();
  EXPECT_THAT(refusal_of(Fault::ours, [&] { file.write("x"); }), HasSubstr("defect"));
  EXPECT_THAT(refusal_of(Fault::ours, [&] { file.commit(); }), HasSubstr("defect"));
}

}  // namespace
}  // namespace lockstep
