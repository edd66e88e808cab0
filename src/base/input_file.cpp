#include "base/input_file.h"

#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lockstep {
namespace {

Fault fault_of(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EIO:
      return Fault::device;
    default:
      return Fault::data;
  }
}

std::string_view kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a FIFO";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    default:
      return "something else";
  }
}

bool is_standard_input(const struct stat& file) {
  struct stat input {};
  return ::fstat(STDIN_FILENO, &input) == 0 && input.st_dev == file.st_dev && input.st_ino == file.st_ino &&
         !S_ISDIR(file.st_mode);
}

// Without O_NONBLOCK opening a FIFO waits for a program that writes to it.
int open_without_waiting(const std::string& name) {
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) throw CannotRead(name, "open", errno);
  return descriptor;
}

// The file's size; nothing if the file does not tell. Files of /proc say 0 even if they hold bytes.
std::optional<std::size_t> judge(int descriptor, const std::string& name) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw CannotRead(name, "stat", errno);
  if (S_ISREG(status.st_mode))
    return status.st_size > 0 ? std::optional(static_cast<std::size_t>(status.st_size)) : std::nullopt;
  if (!is_standard_input(status))
    throw Error(Fault::data, "{}: expected a file, found {}; name a regular file, or /dev/stdin", name,
                kind_of(status.st_mode));
  if (::fcntl(descriptor, F_SETFL, O_RDONLY) != 0) throw CannotRead(name, "read", errno);  // now wait for it
  return std::nullopt;
}

}  // namespace

CannotRead::CannotRead(std::string_view file, std::string_view attempt, int error)
    : Error(fault_of(error), "{}: cannot {}: {}", file, attempt, std::generic_category().message(error)) {}

InputFile::InputFile(const std::filesystem::path& path)
    : ByteSource(path.string()), descriptor_(open_without_waiting(name())) {
  try {
    size_ = judge(descriptor_, name());
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

InputFile::~InputFile() { ::close(descriptor_); }

std::optional<std::size_t> InputFile::remaining() const {
  if (!size_) return std::nullopt;
  return *size_ > offset() ? *size_ - offset() : 0;
}

std::size_t InputFile::read_some(std::span<std::byte> into) {
  for (;;) {
    const ssize_t got = ::read(descriptor_, into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw CannotRead(name(), "read", errno);
  }
}

}  // namespace lockstep
