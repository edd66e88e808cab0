#include "store/run_directory.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/directory.h"
#include "base/error.h"

namespace lockstep::store {
namespace {

namespace fs = std::filesystem;

// A path without a slash at its end.
fs::path plain(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

[[noreturn]] void refuse_existing(const fs::path& path) {
  throw Error(Fault::usage, "{}: expected a new directory, found that it exists; name another",
              path.string());
}

// The nearest directory above `path` that is there: the one in which names are going to be made.
fs::path nearest_there(const fs::path& path) {
  const fs::path above = directory_of(path);
  std::error_code ignored;  // what cannot be looked at is taken for missing
  return above == path || fs::exists(above, ignored) ? above : nearest_there(above);
}

}  // namespace

fs::path create_run_directory(const fs::path& parent, std::string_view model) {
  if (model.empty() || model.find('/') != std::string_view::npos)
    throw Error(Fault::usage, "model name {:?} cannot name a directory; use one without '/'", model);
  make_directories(parent);
  for (int number = 1;; ++number) {
    fs::path path = parent / fmt::format("{}-{}", model, number);
    if (make_directory(path)) return path;
  }
}

void create_given_directory(const fs::path& path) {
  make_directories(plain(path).parent_path());
  if (!make_directory(plain(path))) refuse_existing(path);
}

void expect_room_for_directory(const fs::path& path) {
  std::error_code error;
  if (const fs::path here = fs::current_path(error); error && path.is_relative())
    throw Error(Fault::device, "the working directory is gone ({}); change to one that exists",
                error.message());
  const fs::path there = nearest_there(plain(path));
  int reason = fs::is_directory(there, error) ? 0 : ENOTDIR;
  if (reason == 0 && ::access(there.c_str(), W_OK | X_OK) != 0) reason = errno;
  if (reason != 0)
    throw Error(Fault::ours, "{}: cannot make the directory: {}: {}", path.string(), there.string(),
                std::generic_category().message(reason));
}

void expect_new_directory(const fs::path& path) {
  std::error_code ignored;  // what cannot be looked at is refused below
  if (fs::exists(fs::symlink_status(plain(path), ignored))) refuse_existing(path);
  expect_room_for_directory(path);
}

RunLock::RunLock(const fs::path& run) : descriptor_(::open(run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0)
    throw Error(Fault::data, "{}: cannot open the run: {}", run.string(),
                std::generic_category().message(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  const int error = errno;
  ::close(descriptor_);
  if (error == EWOULDBLOCK)
    throw Error(Fault::usage, "{}: another lockstep is writing to this run; wait until it has ended",
                run.string());
  throw Error(Fault::device,
              "{}: cannot lock the run: {}; keep it on a file system that has locks, as a local disk",
              run.string(), std::generic_category().message(error));
}

RunLock::~RunLock() { ::close(descriptor_); }

void remove_leftovers(const fs::path& run) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(run, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;  // it only takes room
    if (is_temporary(entry->path())) fs::remove(entry->path(), ignored);
  }
}

}  // namespace lockstep::store
