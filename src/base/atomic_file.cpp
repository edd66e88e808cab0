#include "base/atomic_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/error.h"

namespace lockstep {
namespace {

constexpr std::string_view kTemporary = ".tmp-";

// What stands at `path` and must not be replaced; empty for a regular file or nothing.
std::string_view in_the_way(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return {};
  if (S_ISDIR(status.st_mode)) return "a directory";
  if (S_ISLNK(status.st_mode)) return "a symbolic link";
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) return "a device";
  return S_ISFIFO(status.st_mode) ? "a pipe" : "a socket";
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path, mode_t mode) : path_(std::move(path)) {
  refuse_what_is_in_the_way();
  // The number passes over what a killed process or another thread has left.
  for (int number = 0; descriptor_ < 0; ++number) {
    std::filesystem::path candidate = path_;
    candidate += fmt::format("{}{}-{}", kTemporary, ::getpid(), number);
    descriptor_ = ::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ >= 0)
      temporary_ = std::move(candidate);
    else if (errno != EEXIST)
      fail("create", errno);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  check(descriptor_ >= 0, "write to {} after commit", path_.string());
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::commit() {
  check(descriptor_ >= 0, "second commit of {}", path_.string());
  if (::fsync(descriptor_) != 0) fail("flush", errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("close", errno);
  refuse_what_is_in_the_way();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename", errno);
  temporary_.clear();

  sync_directory(directory_of(path_));
}

void AtomicFile::refuse_what_is_in_the_way() const {
  if (const std::string_view found = in_the_way(path_); !found.empty())
    throw Error(Fault::ours, "{}: expected a regular file or nothing, found {}; name another file",
                path_.string(), found);
}

void AtomicFile::fail(std::string_view operation, int error) const {
  throw Error(Fault::ours, "{}: cannot {} the file: {}", path_.string(), operation,
              std::generic_category().message(error));
}

bool is_temporary(const std::filesystem::path& path) {
  return path.filename().string().find(kTemporary) != std::string::npos;
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace lockstep
