// A file that appears whole or not at all: written under a temporary name in the same directory, made safe on
// disk, then renamed. Until commit() an older file at the same path stays as it was. Only a regular file is
// replaced: a rename would turn a device or a symbolic link into a file.
// Every failure is Error(ours) naming the path and the system's reason.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace lockstep {

class AtomicFile {
 public:
  // Creates the temporary file, with what the process's umask leaves of `mode`; refuses what is in its way.
  // Requires: the directory exists.
  explicit AtomicFile(std::filesystem::path path, mode_t mode = 0666);
  ~AtomicFile();  // without commit(): removes the temporary file
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  // fsync, close, rename, fsync of the directory. Call once, last.
  void commit();

 private:
  void refuse_what_is_in_the_way() const;
  [[noreturn]] void fail(std::string_view operation, int error) const;

  const std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty once it is renamed
  int descriptor_ = -1;
};

// Writes a whole file in one call.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

// Is it one of the temporary files that a killed program leaves?
bool is_temporary(const std::filesystem::path& path);

}  // namespace lockstep
