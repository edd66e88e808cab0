#include "runs/row_file.h"

#include <cerrno>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/error.h"
#include "report/written.h"

namespace lockstep::runs {

RowFile::RowFile(const std::filesystem::path& path, Begin begin)
    : std::ostream(nullptr),
      path_(path),
      rows_(path, begin),
      name_is_safe_(begin == Begin::after_existing_rows) {
  rdbuf(&rows_);
}

RowFile::~RowFile() { flush(); }

void RowFile::start_writing() {
  flush();
  report::require_written(*this, path_.string());
  rows_.start_writing();
}

void RowFile::make_safe() {
  flush();
  report::require_written(*this, path_.string());
  if (const int error = rows_.sync_to_disk(); error != 0)
    throw Error(Fault::ours, "{}: cannot flush the rows to disk: {}", path_.string(),
                std::generic_category().message(error));
  if (!name_is_safe_) sync_directory(directory_of(path_));
  name_is_safe_ = true;
}

RowFile::Rows::Rows(const std::filesystem::path& path, Begin begin)
    : descriptor_(::open(
          path.c_str(),
          O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (begin == Begin::new_file ? O_EXCL : 0),
          0666)) {
  if (descriptor_ < 0)
    throw Error(Fault::ours, "{}: cannot {} the file: {}", path.string(),
                begin == Begin::new_file ? "create" : "open", std::generic_category().message(errno));
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw Error(Fault::ours, "{}: expected a regular file", path.string());
  }
  size_ = ::lseek(descriptor_, 0, SEEK_END);
}

RowFile::Rows::~Rows() { ::close(descriptor_); }

void RowFile::Rows::start_writing() const {
  // What this cannot do is done by sync_to_disk().
  static_cast<void>(::sync_file_range(descriptor_, 0, 0, SYNC_FILE_RANGE_WRITE));
}

int RowFile::Rows::sync_to_disk() const {
  while (::fdatasync(descriptor_) != 0) {
    if (errno == EINVAL) return 0;  // the file system has no such flush
    if (errno != EINTR) return errno;
  }
  return 0;
}

int RowFile::Rows::sync() {
  const std::string rows = str();
  str({});
  std::string_view left = rows;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      if (::ftruncate(descriptor_, size_) == 0) ::lseek(descriptor_, size_, SEEK_SET);
      return -1;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ += static_cast<off_t>(rows.size());
  return 0;
}

}  // namespace lockstep::runs
