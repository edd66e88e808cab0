#include "gpu/kept_file.h"

#include <cerrno>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/file_reader.h"

namespace lockstep::gpu {
namespace {

constexpr mode_t kOwnDirectory = 0700, kOwnFile = 0600;

// 0 or an error's number. Parents are made as well.
int make_directory(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), kOwnDirectory) == 0 || errno == EEXIST) return 0;
  if (errno != ENOENT || !path.has_parent_path() || path.parent_path() == path) return errno;
  const int error = make_directory(path.parent_path());
  if (error != 0) return error;
  return ::mkdir(path.c_str(), kOwnDirectory) == 0 || errno == EEXIST ? 0 : errno;
}

std::string distrust(const struct stat& facts) {
  if (facts.st_uid != ::geteuid()) return "it belongs to another user";
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users may write to it";
  return {};
}

// Of a directory that is there. A symbolic link counts as what it leads to.
std::string problem_with_existing(const std::filesystem::path& directory) {
  struct stat facts {};
  if (::stat(directory.c_str(), &facts) != 0) return std::generic_category().message(errno);
  return S_ISDIR(facts.st_mode) ? distrust(facts) : "it is not a directory";
}

}  // namespace

std::string problem_with(const std::filesystem::path& directory) {
  const int error = make_directory(directory);
  return error != 0 ? std::generic_category().message(error) : problem_with_existing(directory);
}

bool try_to_keep(const std::filesystem::path& path, std::string_view text) {
  if (!problem_with(path.parent_path()).empty()) return false;
  try {
    AtomicFile file(path, kOwnFile);
    file.write(text);
    file.commit();
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::optional<std::string> kept_text(const std::filesystem::path& path, std::size_t most_bytes) {
  // Where the directory is to be trusted, no other user can put another file there between these looks.
  if (!problem_with_existing(path.parent_path()).empty()) return std::nullopt;
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) || !distrust(facts).empty())
    return std::nullopt;
  try {
    const std::vector<std::byte> bytes = read_raw_file(path, most_bytes);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace lockstep::gpu
