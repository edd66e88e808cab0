#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/refusal_for_test.h"
#include "store/checkpoint_for_test.h"
#include "store/safetensors_header.h"

namespace lockstep::store {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class CheckpointDirectory : public testing::Test {
 protected:
  CheckpointDirectory() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-checkpoint-XXXXXX").string();
    run_ = ::mkdtemp(pattern.data());
  }
  ~CheckpointDirectory() override { fs::remove_all(run_); }

  fs::path file(std::int64_t step) const {
    return run_ / "checkpoints" / fmt::format("step-{:08}.safetensors", step);
  }

  void write(std::initializer_list<std::int64_t> steps) const {
    for (const std::int64_t step : steps) write_checkpoint(run_, checkpoint_for_test(step));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(run_ / "checkpoints"))
      found.push_back(entry.path().filename());
    return found;
  }

  void flip_last_byte(std::int64_t step) const {
    std::fstream stream(file(step), std::ios::binary | std::ios::in | std::ios::out);
    stream.seekg(-1, std::ios::end);
    const char last = static_cast<char>(stream.get() ^ 1);
    stream.seekp(-1, std::ios::end);
    stream.put(last);
    ASSERT_TRUE(stream.flush());
  }

  std::string refusal() const {
    return refusal_of(Fault::data, [&] { read_newest_checkpoint(run_, tensors_for_test); });
  }

  fs::path run_;
};

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(CheckpointDirectory, TheNewestIsFound) {
  write({235, 470});
  const FoundCheckpoint found = read_newest_checkpoint(run_, tensors_for_test);
  EXPECT_EQ(found.file, file(470));
  EXPECT_EQ(found.checkpoint.step, 470);
  EXPECT_EQ(found.checkpoint.tensors.at(0).name, "z.weight");
  EXPECT_THAT(found.skipped, IsEmpty());
  EXPECT_EQ(read_checkpoint(file(235), tensors_for_test).step, 235);
}

TEST_F(CheckpointDirectory, KeepsTheNewestTwo) {
  write({9, 10, 99999999, 100000000, 100000001});
  EXPECT_THAT(names(), UnorderedElementsAre("step-100000000.safetensors", "step-100000001.safetensors"));
  EXPECT_EQ(read_newest_checkpoint(run_, tensors_for_test).checkpoint.step, 100000001);
}

TEST_F(CheckpointDirectory, TheSameStepIsReplaced) {
  write({235, 470});
  Checkpoint again = checkpoint_for_test(470);
  again.loss_sum = 7;
  write_checkpoint(run_, again);
  EXPECT_EQ(read_newest_checkpoint(run_, tensors_for_test).checkpoint.loss_sum, 7);
  EXPECT_EQ(names().size(), 2u);
}

TEST_F(CheckpointDirectory, EqualCheckpointsAreEqualFiles) {
  write({235});
  const std::string first = content_of(file(235));
  write({235});
  EXPECT_EQ(content_of(file(235)), first);
}

TEST_F(CheckpointDirectory, ADamagedOneIsSkippedAndDescribed) {
  write({235, 470});
  flip_last_byte(470);
  const FoundCheckpoint found = read_newest_checkpoint(run_, tensors_for_test);
  EXPECT_EQ(found.file, file(235));
  EXPECT_EQ(found.checkpoint.step, 235);
  ASSERT_EQ(found.skipped.size(), 1u);
  EXPECT_EQ(found.skipped[0].file, file(470));
  EXPECT_THAT(found.skipped[0].why,
              HasSubstr(file(470).string() + ": tensor \"velocity:a.bias\": expected hash \""));
  EXPECT_EQ(found.skipped[0].why.find('\n'), std::string::npos);
}

TEST_F(CheckpointDirectory, ARunThatWentBackKeepsWhatItWritesAndWhatItSkipped) {
  write({235, 470});
  flip_last_byte(470);
  const std::string damaged = content_of(file(470));
  const fs::path aside = file(470).string() + ".damaged";
  EXPECT_THAT(set_aside(read_newest_checkpoint(run_, tensors_for_test).skipped), ElementsAre(aside));
  write({300});
  EXPECT_THAT(names(), UnorderedElementsAre("step-00000235.safetensors", "step-00000300.safetensors",
                                            "step-00000470.safetensors.damaged"));
  const FoundCheckpoint found = read_newest_checkpoint(run_, tensors_for_test);
  EXPECT_EQ(found.checkpoint.step, 300);
  EXPECT_THAT(found.skipped, IsEmpty());
  write({470, 705, 940});
  EXPECT_EQ(names().size(), 3U);
  EXPECT_EQ(content_of(aside), damaged);
}

TEST_F(CheckpointDirectory, OneThatWasSetAsideStaysWhenAnotherFollows) {
  write({235, 470});
  for (const char* const ending : {".damaged", ".damaged-2", ".damaged-3"}) {
    flip_last_byte(470);
    EXPECT_THAT(set_aside(read_newest_checkpoint(run_, tensors_for_test).skipped),
                ElementsAre(fs::path(file(470).string() + ending)));
    write({470});
  }
  EXPECT_EQ(names().size(), 5U);
}

TEST_F(CheckpointDirectory, LaterOnesStayWhenAnEarlierOneIsWritten) {
  write({235, 470});
  write({300});
  EXPECT_EQ(names().size(), 3U);
  EXPECT_TRUE(fs::exists(file(470)));
}

// What the system does not hand out may be whole: no older one takes its place.
TEST_F(CheckpointDirectory, OneThatCannotBeReadIsNotSkipped) {
  const std::string advice = "; it may be whole, so no older checkpoint is used: try again";
  write({235, 470});
  fs::remove(file(470));
  fs::create_symlink("/proc/self/mem", file(470));  // opens, and reading its first bytes is an error
  EXPECT_EQ(refusal_of(Fault::device, [&] { read_newest_checkpoint(run_, tensors_for_test); }),
            file(470).string() + ": cannot read: Input/output error" + advice);
  fs::remove(file(470));
  fs::create_symlink(file(470), file(470));
  EXPECT_EQ(refusal(), file(470).string() + ": cannot open: Too many levels of symbolic links" + advice);
  write({300});  // leaves it alone
  EXPECT_TRUE(fs::is_symlink(file(470)));
  fs::remove(file(470));
  fs::create_symlink("nowhere", file(470));
  EXPECT_EQ(refusal(), file(470).string() + ": cannot open: No such file or directory" + advice);
}

// Else a run would go on without a word, and stop where it comes to write a checkpoint of that name.
TEST_F(CheckpointDirectory, WhatIsNoFileIsSkippedDescribedAndSetAside) {
  write({235});
  const std::pair<const char*, std::function<void(const fs::path&)>> strange[]{
      {"a directory", [](const fs::path& path) { fs::create_directory(path); }},
      {"a FIFO", [](const fs::path& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); }},
      {"a device", [](const fs::path& path) { fs::create_symlink("/dev/zero", path); }}};
  for (const auto& [kind, make] : strange) {
    make(file(470));
    const FoundCheckpoint found = read_newest_checkpoint(run_, tensors_for_test);
    EXPECT_EQ(found.checkpoint.step, 235);
    ASSERT_EQ(found.skipped.size(), 1U);
    EXPECT_THAT(found.skipped[0].why,
                testing::StartsWith(file(470).string() + ": expected a file, found " + kind));
    EXPECT_EQ(set_aside(found.skipped).size(), 1U);
    write({470});
    fs::remove(file(470));
  }
  EXPECT_EQ(names().size(), 4U);
}

// In a child process, which gives up the rights that would open any file.
TEST_F(CheckpointDirectory, OneThatIsForbiddenIsNotSkipped) {
  write({235, 470});
  fs::permissions(run_, fs::perms{0755});
  fs::permissions(file(470), fs::perms::none);
  enum Outcome { as_promised = 0, skipped, another_error };
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(another_error);
    try {
      read_newest_checkpoint(run_, tensors_for_test);
      ::_exit(skipped);
    } catch (const Error& error) {
      const bool told =
          std::string_view(error.what()).find(": cannot open: Permission denied; it may be whole") !=
          std::string_view::npos;
      ::_exit(told && error.fault() == Fault::data ? as_promised : another_error);
    }
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), as_promised);
}

// A file no memory holds, with a header whose hash is right.
TEST_F(CheckpointDirectory, OneTooLargeForItsJobIsSkippedUnread) {
  write({235});
  TensorFile large = tensor_file_of(checkpoint_for_test(470));
  SafetensorsHeader header{.tensors = {}, .metadata = large.metadata};
  header.metadata.erase("hash");
  std::uint64_t end = 0;
  for (const Tensor& tensor : large.tensors) {
    const std::uint64_t elements = std::uint64_t{1} << 31;
    header.tensors.push_back({tensor.name, "F32", {elements, 1}, end, end + 4 * elements});
    end += 4 * elements;
  }
  const std::string unsealed = safetensors_header_bytes(header);
  header.metadata["hash"] = to_hex(hash128(std::as_bytes(std::span(unsealed))));
  const std::string sealed = safetensors_header_bytes(header);
  std::ofstream(file(470), std::ios::binary) << sealed;
  fs::resize_file(file(470), sealed.size() + end);
  const FoundCheckpoint found = read_newest_checkpoint(run_, tensors_for_test);
  EXPECT_EQ(found.checkpoint.step, 235);
  ASSERT_EQ(found.skipped.size(), 1U);
  EXPECT_THAT(found.skipped[0].why, HasSubstr("tensors: expected tensor \"z.weight\" of shape [2, 1]"));
}

TEST_F(CheckpointDirectory, WithoutAWholeOneEachRefusalIsTold) {
  write({235, 470});
  flip_last_byte(470);
  std::ofstream(file(235)) << "short";
  EXPECT_THAT(refusal(), testing::StartsWith(run_.string() +
                                             ": expected a whole checkpoint in checkpoints, "
                                             "found only damaged ones: " +
                                             file(470).string() + ": tensor "));
  EXPECT_THAT(refusal(), testing::EndsWith("; " + file(235).string() +
                                           ": at byte 0: expected the header's size (8 bytes), found 5 bytes "
                                           "before the end"));
}

TEST_F(CheckpointDirectory, AFileUnderAnotherStepsNameIsSkipped) {
  write({235});
  fs::copy_file(file(235), file(470));
  const FoundCheckpoint found = read_newest_checkpoint(run_, tensors_for_test);
  EXPECT_EQ(found.checkpoint.step, 235);
  ASSERT_EQ(found.skipped.size(), 1U);
  EXPECT_EQ(found.skipped[0].why, file(470).string() + ": expected step 470 by its name, found 235");
}

TEST_F(CheckpointDirectory, OtherFilesAreLeftAlone) {
  write({235});
  const std::vector<std::string> others{"step-00000470.safetensors.tmp-1-0",
                                        "step-470.safetensors",
                                        "step-0000047x.safetensors",
                                        "step--0000470.safetensors",
                                        "step-99999999999999999999.safetensors",
                                        "notes.txt",
                                        "step-"};
  for (const std::string& name : others) std::ofstream(run_ / "checkpoints" / name) << "x";
  EXPECT_THAT(read_newest_checkpoint(run_, tensors_for_test).skipped, IsEmpty());
  fs::create_directory(file(999));
  write({236, 237, 238});
  for (const std::string& name : others) EXPECT_EQ(content_of(run_ / "checkpoints" / name), "x") << name;
  EXPECT_TRUE(fs::is_directory(file(999)));
  EXPECT_EQ(names().size(), others.size() + 3);
}

TEST_F(CheckpointDirectory, WithoutCheckpointsThereIsNothingToRead) {
  EXPECT_EQ(refusal(),
            (run_ / "checkpoints").string() + ": cannot list the checkpoints: No such file or directory");
  fs::create_directory(run_ / "checkpoints");
  EXPECT_EQ(refusal(), run_.string() + ": expected a whole checkpoint in checkpoints, found none");
}

TEST_F(CheckpointDirectory, AMissingRunIsNamed) {
  const fs::path absent = run_ / "absent";
  EXPECT_EQ(refusal_of(Fault::ours, [&] { write_checkpoint(absent, checkpoint_for_test()); }),
            (absent / "checkpoints").string() + ": cannot make the directory: No such file or directory");
}

// A full disk, as any user can have one: a child process whose files may not grow past 64 bytes.
TEST_F(CheckpointDirectory, WhenTheDiskIsFullTheOlderOnesStay) {
  write({235, 470});
  const std::string first = content_of(file(235)), second = content_of(file(470));
  enum Outcome { as_promised = 0, not_refused, another_fault };
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64, 64};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write({705});
      ::_exit(not_refused);
    } catch (const Error& error) {
      ::_exit(error.fault() == Fault::ours ? as_promised : another_fault);
    }
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), as_promised);
  EXPECT_THAT(names(), UnorderedElementsAre("step-00000235.safetensors", "step-00000470.safetensors"));
  EXPECT_EQ(content_of(file(235)), first);
  EXPECT_EQ(content_of(file(470)), second);
}

}  // namespace
}  // namespace lockstep::store
