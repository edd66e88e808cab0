#include "base/input_file.h"

#include <fstream>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_reader.h"
#include "base/refusal_for_test.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OpenedFile : public testing::Test {
 protected:
  OpenedFile() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-input-file-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~OpenedFile() override { fs::remove_all(directory_); }

  fs::path directory_;
};

// Takes the place of standard input for as long as it lives.
class StandardInput {
 public:
  explicit StandardInput(int descriptor) : before_(::dup(STDIN_FILENO)) {
    ::dup2(descriptor, STDIN_FILENO);
    ::close(descriptor);
  }
  ~StandardInput() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  const int before_;
};

// No file can be opened for as long as it lives.
class WithoutDescriptors {
 public:
  WithoutDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none{0, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~WithoutDescriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  WithoutDescriptors(const WithoutDescriptors&) = delete;
  WithoutDescriptors& operator=(const WithoutDescriptors&) = delete;

 private:
  rlimit before_{};
};

// What it says, if it is CannotRead.
template <class Action>
std::string unreadable(Fault fault, Action action) {
  try {
    action();
  } catch (const CannotRead& error) {
    return error.fault() == fault ? error.what() : "another fault";
  }
  return "read";
}

TEST_F(OpenedFile, TellsItsSizeAndIsReadInPieces) {
  std::ofstream(directory_ / "a") << "12345";
  InputFile file(directory_ / "a");
  EXPECT_EQ(file.remaining(), 5U);
  std::vector<std::byte> bytes(2);
  file.fill(bytes, "two bytes");
  EXPECT_EQ(bytes[1], std::byte{'2'});
  EXPECT_EQ(file.remaining(), 3U);
  bytes.resize(4);
  EXPECT_EQ(refusal_of(Fault::data, [&] { file.fill(bytes, "four bytes"); }),
            (directory_ / "a").string() +
                ": at byte 2: expected four bytes (4 bytes), found 3 bytes before the end");
  EXPECT_EQ(file.read(bytes), 3U);
  EXPECT_EQ(file.offset(), 5U);
}

TEST_F(OpenedFile, WhatIsNoRegularFileIsRefusedAndNotWaitedFor) {
  const fs::path fifo = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const StandardInput null(::open("/dev/null", O_RDONLY));
  EXPECT_EQ(refusal_of(Fault::data, [&] { read_raw_file(fifo, 10); }),
            fifo.string() + ": expected a file, found a FIFO; name a regular file, or /dev/stdin");
  EXPECT_THAT(refusal_of(Fault::data, [] { read_raw_file("/dev/zero", 10); }),
              HasSubstr("/dev/zero: expected a file, found a device"));
  EXPECT_THAT(refusal_of(Fault::data, [&] { read_raw_file(directory_, 10); }),
              HasSubstr("expected a file, found a directory"));
}

TEST_F(OpenedFile, StandardInputIsReadToItsEndAndLimited) {
  for (const std::size_t limit : {5U, 4U}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], "12345", 5), 5);
    ::close(ends[1]);
    const StandardInput pipe(ends[0]);
    if (limit == 5)
      EXPECT_EQ(read_raw_file("/dev/stdin", limit).size(), 5U);
    else
      EXPECT_EQ(refusal_of(Fault::data, [&] { read_raw_file("/dev/stdin", limit); }),
                "/dev/stdin: expected at most 4 bytes, found more");
  }
  const StandardInput endless(::open("/dev/zero", O_RDONLY));
  EXPECT_EQ(refusal_of(Fault::data, [] { read_raw_file("/dev/stdin", 1000); }),
            "/dev/stdin: expected at most 1000 bytes, found more");
}

TEST_F(OpenedFile, WhatTheSystemDoesNotHandOutIsNotDamaged) {
  EXPECT_EQ(unreadable(Fault::data, [&] { read_raw_file(directory_ / "absent", 10); }),
            (directory_ / "absent").string() + ": cannot open: No such file or directory");
  fs::create_symlink("loop", directory_ / "loop");
  EXPECT_THAT(unreadable(Fault::data, [&] { read_raw_file(directory_ / "loop", 10); }),
              HasSubstr("loop: cannot open: Too many levels of symbolic links"));
  // The first page of a process is not there.
  EXPECT_EQ(unreadable(Fault::device, [] { read_raw_file("/proc/self/mem", 10); }),
            "/proc/self/mem: cannot read: Input/output error");
}

TEST_F(OpenedFile, DescriptorsThatRunOutAreTheHostsFault) {
#ifdef LOCKSTEP_SANITIZED
  GTEST_SKIP() << "a sanitizer opens files of its own to look at an object";
#endif
  std::ofstream(directory_ / "a") << "12345";
  const std::string said = unreadable(Fault::device, [&] {
    const WithoutDescriptors scarcity;
    read_raw_file(directory_ / "a", 10);
  });
  EXPECT_EQ(said, (directory_ / "a").string() + ": cannot open: Too many open files");
}

}  // namespace
}  // namespace lockstep
