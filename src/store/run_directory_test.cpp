#include "store/run_directory.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

namespace lockstep::store {
namespace {

namespace fs = std::filesystem;

class RunDirectory : public testing::Test {
 protected:
  RunDirectory() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-run-directory-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~RunDirectory() override { fs::remove_all(directory_); }

  fs::path directory_;
};

template <class Action>
std::pair<Fault, std::string> refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.fault(), error.what()};
  }
  ADD_FAILURE() << "was accepted";
  return {};
}

TEST_F(RunDirectory, CountsUpAndMakesTheParent) {
  const fs::path runs = directory_ / "deep" / "runs";
  EXPECT_EQ(create_run_directory(runs, "lenet"), runs / "lenet-1");
  EXPECT_EQ(create_run_directory(runs, "lenet"), runs / "lenet-2");
  EXPECT_EQ(create_run_directory(runs, "mlp"), runs / "mlp-1");
  EXPECT_TRUE(fs::is_directory(runs / "lenet-2"));
}

TEST_F(RunDirectory, WhatIsThereIsPassedOver) {
  std::ofstream(directory_ / "lenet-1") << "a file";
  fs::create_directory_symlink("nowhere", directory_ / "lenet-2");
  EXPECT_EQ(create_run_directory(directory_, "lenet"), directory_ / "lenet-3");
}

TEST_F(RunDirectory, ThoseWhoStartTogetherGetOneEach) {
  std::vector<fs::path> made(8);
  std::vector<std::thread> threads;
  for (fs::path& path : made) threads.emplace_back([&] { path = create_run_directory(directory_, "lenet"); });
  for (std::thread& thread : threads) thread.join();
  std::sort(made.begin(), made.end());
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(made[static_cast<std::size_t>(i)], directory_ / ("lenet-" + std::to_string(i + 1)));
}

TEST_F(RunDirectory, AFileInPlaceOfTheParentIsNamed) {
  std::ofstream(directory_ / "runs") << "a file";
  const auto [fault, message] = refusal([&] { create_run_directory(directory_ / "runs", "lenet"); });
  EXPECT_EQ(fault, Fault::ours);
  EXPECT_EQ(message, (directory_ / "runs").string() + ": cannot make the directory: Not a directory");
}

TEST_F(RunDirectory, ANameThatWouldLeadElsewhereIsRefused) {
  EXPECT_EQ(refusal([&] { create_run_directory(directory_, "../lenet"); }).first, Fault::usage);
  EXPECT_EQ(refusal([&] { create_run_directory(directory_, ""); }).first, Fault::usage);
}

TEST_F(RunDirectory, AGivenDirectoryIsMadeOnce) {
  for (const char* name : {"plain", "a/b/c", "slash/"}) {
    const fs::path path = directory_ / name;
    create_given_directory(path);
    EXPECT_TRUE(fs::is_directory(path));
    const auto [fault, message] = refusal([&] { create_given_directory(path); });
    EXPECT_EQ(fault, Fault::usage);
    EXPECT_EQ(message, path.string() + ": expected a new directory, found that it exists; name another");
  }
}

TEST_F(RunDirectory, WhetherOneCanBeMadeIsAskedWithoutMakingIt) {
  std::ofstream(directory_ / "file") << "a file";
  fs::create_symlink("nowhere", directory_ / "link");
  for (const char* name : {"new", "a/b/c", "slash/"})
    EXPECT_NO_THROW(expect_new_directory(directory_ / name));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 2);
  for (const char* name : {"file", "link", "."}) {
    const auto [fault, message] = refusal([&] { expect_new_directory(directory_ / name); });
    EXPECT_EQ(fault, Fault::usage);
    EXPECT_EQ(message, (directory_ / name).string() +
                           ": expected a new directory, found that it exists; name another");
  }
  const auto [fault, message] = refusal([&] { expect_new_directory(directory_ / "file/a/b"); });
  EXPECT_EQ(fault, Fault::ours);
  EXPECT_EQ(message, (directory_ / "file/a/b").string() + ": cannot make the directory: " +
                         (directory_ / "file").string() + ": Not a directory");
}

// Kept where the call can see it: the file systems of a test machine have locks.
int error_of_flock = 0;  // 0: the system decides

TEST_F(RunDirectory, ALockedRunBelongsToOneProgram) {
  const fs::path run = directory_ / "locked-run";
  fs::create_directories(run);
  {
    const RunLock lock(run);
    const auto [fault, message] = refusal([&] { RunLock{run}; });
    EXPECT_EQ(fault, Fault::usage);
    EXPECT_EQ(message, run.string() + ": another lockstep is writing to this run; wait until it has ended");
  }
  for (const int error : {ENOLCK, EOPNOTSUPP, EBADF}) {
    error_of_flock = error;
    const auto [fault, message] = refusal([&] { RunLock{run}; });
    error_of_flock = 0;
    EXPECT_EQ(fault, Fault::device);
    EXPECT_EQ(message, run.string() + ": cannot lock the run: " + std::generic_category().message(error) +
                           "; keep it on a file system that has locks, as a local disk");
  }
  EXPECT_NO_THROW(RunLock{run});
  fs::remove_all(run);
  EXPECT_THROW(RunLock{run}, Error);
}

TEST_F(RunDirectory, LeftoversOfAKilledProgramGo) {
  const fs::path run = directory_ / "killed-run";
  fs::create_directories(run / "checkpoints");
  for (const char* name :
       {"weights.safetensors", "config.toml.tmp-12-0", "checkpoints/step-1.safetensors.tmp-3-4"})
    std::ofstream(run / name) << "x";
  remove_leftovers(run);
  EXPECT_TRUE(fs::exists(run / "weights.safetensors"));
  EXPECT_FALSE(fs::exists(run / "config.toml.tmp-12-0"));
  EXPECT_FALSE(fs::exists(run / "checkpoints/step-1.safetensors.tmp-3-4"));
}

}  // namespace
}  // namespace lockstep::store

// Stands before the C library's function of this name in this program.
extern "C" int flock(int descriptor, int operation) noexcept {
  if (const int error = lockstep::store::error_of_flock; error != 0) {
    errno = error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
}
