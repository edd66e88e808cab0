// What a loss of power leaves of a run: of a file the bytes that were flushed to disk, of a directory the
// names that were. This program notes every flush and makes such a copy at any moment.
#include <cerrno>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/zoo.h"
#include "runs/run_files.h"
#include "store/checkpoint.h"
#include "train/checkpoint.h"

namespace lockstep::runs {
namespace {

namespace fs = std::filesystem;

struct stat status_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status;
}

std::string content_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

class Disk {
 public:
  std::function<void(const fs::path&)> after_rename = [](const fs::path&) {};

  void flushed(int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) return;
    if (S_ISREG(status.st_mode)) sizes_[status.st_ino] = status.st_size;
    if (!S_ISDIR(status.st_mode)) return;
    std::set<std::string>& names = names_[status.st_ino];
    names.clear();
    const fs::path here = "/proc/self/fd/" + std::to_string(descriptor);
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::read_symlink(here)))
      names.insert(entry.path().filename().string());
  }

  std::string safe_part_of(const fs::path& file) const {
    const auto size = sizes_.find(status_of(file).st_ino);
    return size == sizes_.end() ? "" : content_of(file).substr(0, static_cast<std::size_t>(size->second));
  }

  void copy_what_is_safe(const fs::path& from, const fs::path& to) const {
    fs::create_directory(to);
    const auto names = names_.find(status_of(from).st_ino);
    if (names == names_.end()) return;
    for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
      const fs::path name = entry.path().filename();
      if (!names->second.contains(name.string())) continue;
      if (entry.is_directory())
        copy_what_is_safe(entry.path(), to / name);
      else
        std::ofstream(to / name, std::ios::binary) << safe_part_of(entry.path());
    }
  }

 private:
  std::map<ino_t, off_t> sizes_;                  // of files, as they were flushed last
  std::map<ino_t, std::set<std::string>> names_;  // in directories, as they were flushed last
};

Disk* noting = nullptr;  // where the functions at the end of this file find it

class PowerLoss : public testing::Test {
 protected:
  PowerLoss() {
    fs::create_directory(root_ / "disk");
    noting = &disk_;
  }
  ~PowerLoss() override {
    noting = nullptr;
    fs::remove_all(root_);
  }

  static fs::path make_root() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-power-XXXXXX").string();
    return ::mkdtemp(pattern.data());
  }

  static train::TrainState state_after_an_epoch() {
    const model::Model model = model::zoo_model("mlp");
    train::TrainState state{
        .tensors = run::initial_state(model, arithmetic::UpdateKind::sgd, train::initial_weights(model, 0))};
    state.step = 2;
    state.epoch = 2;
    state.epochs = {{.epoch = 1,
                     .train_loss = 2,
                     .seconds = 1,
                     .evaluation_seconds = 1,
                     .test_correct = 5,
                     .test_examples = 10,
                     .test_loss = 2}};
    return state;
  }

  // An epoch of two steps, as the training tells of it.
  static void train_an_epoch(RunFiles& files) {
    train::TrainState state = state_after_an_epoch();
    for (train::Observer* observer : files.observers()) {
      observer->on_start({.model = "mlp", .epochs = 2, .steps_per_epoch = 2});
      for (const std::int64_t step : {1, 2})
        observer->on_step({.epoch = 1, .step = step, .global_step = step, .hashes = std::vector<Hash128>(4)});
      observer->on_epoch(state.epochs[0]);
    }
    files.save_checkpoint(state);
  }

  RunFiles make_run() const {
    store::RunConfig config;
    config.job.model = "mlp";
    config.job.epochs = 2;
    return RunFiles({.out = run_}, model::zoo_model("mlp"), config);
  }

  Disk disk_;
  const fs::path root_ = make_root();
  const fs::path run_ = root_ / "disk/new/runs/mlp";
  const std::vector<std::string> rows_{"results.csv", "metrics.jsonl", "hashes.csv"};
};

TEST_F(PowerLoss, ACheckpointIsNeverAheadOfTheRows) {
  RunFiles files = make_run();
  int checkpoints = 0;
  disk_.after_rename = [&](const fs::path& to) {
    if (to.parent_path().filename() != "checkpoints") return;
    ++checkpoints;
    for (const std::string& name : rows_)
      EXPECT_EQ(disk_.safe_part_of(run_ / name), content_of(run_ / name)) << name;
  };
  train_an_epoch(files);
  EXPECT_EQ(checkpoints, 1);
}

TEST_F(PowerLoss, LeavesTheRunUpToItsLastCheckpoint) {
  RunFiles files = make_run();
  train_an_epoch(files);
  const fs::path left = root_ / "left";
  disk_.copy_what_is_safe(root_ / "disk", left);
  const fs::path run = left / "new/runs/mlp";
  EXPECT_EQ(store::read_newest_checkpoint(run, train::checkpoint_tensors).checkpoint.step, 2);
  for (const std::string& name : rows_) {
    EXPECT_EQ(content_of(run / name), content_of(run_ / name)) << name;
    EXPECT_NE(content_of(run / name), "") << name;
  }
  EXPECT_EQ(content_of(run / "config.toml"), content_of(run_ / "config.toml"));
}

}  // namespace

// For the functions below.
void note_flush(int descriptor) {
  if (noting != nullptr) noting->flushed(descriptor);
}
void note_rename(const char* to) {
  if (noting != nullptr) noting->after_rename(to);
}

}  // namespace lockstep::runs

// These stand before the C library's functions of the same names in this program.

extern "C" int fsync(int descriptor) {
  const auto result = static_cast<int>(::syscall(SYS_fsync, descriptor));
  if (result == 0) lockstep::runs::note_flush(descriptor);
  return result;
}

extern "C" int fdatasync(int descriptor) {
  const auto result = static_cast<int>(::syscall(SYS_fdatasync, descriptor));
  if (result == 0) lockstep::runs::note_flush(descriptor);
  return result;
}

extern "C" int rename(const char* from, const char* to) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_rename, from, to));
  if (result == 0) lockstep::runs::note_rename(to);
  return result;
}
