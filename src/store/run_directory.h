// Where a run keeps its files. A directory is made, never taken over: making it is the lock, so two programs
// that start at once get two.
#pragma once
#include <filesystem>
#include <string_view>

namespace lockstep::store {

// Makes parent/lenet-1, or the next free number, and `parent` where it is missing; gives its path.
// Throws Error(ours) naming the path and the system's reason.
std::filesystem::path create_run_directory(const std::filesystem::path& parent, std::string_view model);

// Makes the directory a user named, and the ones above it. Throws Error(usage) if there is something already.
void create_given_directory(const std::filesystem::path& path);

// Whether a directory of this name can be made, asked before anything long begins: nothing is made. Throws
// Error(ours) naming what does not let it, Error(device) for a working directory that is gone.
void expect_room_for_directory(const std::filesystem::path& path);

// The same, and Error(usage) if there is a file or directory of that name already.
void expect_new_directory(const std::filesystem::path& path);

// Keeps other programs from going on with the same run, for as long as it lives.
class RunLock {
 public:
  // Throws Error(usage) if another program has it, Error(data) if there is no such directory, Error(device)
  // where the file system has no locks.
  explicit RunLock(const std::filesystem::path& run);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  const int descriptor_;
};

// Removes what a killed program left half-written in a run. Requires: the run is locked.
void remove_leftovers(const std::filesystem::path& run);

}  // namespace lockstep::store
