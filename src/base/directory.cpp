#include "base/directory.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, int error) {
  throw Error(Fault::ours, "{}: cannot make the directory: {}", path.string(),
              std::generic_category().message(error));
}

}  // namespace

void sync_directory(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 && errno == EACCES) return;
  const int error = descriptor < 0 || ::fsync(descriptor) != 0 ? errno : 0;
  if (descriptor >= 0) ::close(descriptor);
  if (error != 0 && error != EINVAL)  // EINVAL: the file system has no such flush
    throw Error(Fault::ours, "{}: cannot flush the directory: {}", directory.string(),
                std::generic_category().message(error));
}

fs::path directory_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

bool make_directory(const fs::path& path) {
  // Not std::filesystem's function: that one counts an existing directory as made.
  if (::mkdir(path.c_str(), 0777) != 0) {
    if (errno == EEXIST) return false;
    refuse(path, errno);
  }
  sync_directory(directory_of(path));
  return true;
}

void make_directories(const fs::path& path) {
  std::error_code ignored;  // what cannot be looked at is refused when it is made
  if (path.empty() || fs::is_directory(path, ignored)) return;
  make_directories(path.parent_path());
  if (!path.has_filename()) return;  // "a/" is made as "a"
  if (!make_directory(path) && !fs::is_directory(path, ignored)) refuse(path, ENOTDIR);
}

}  // namespace lockstep
