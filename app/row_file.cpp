#include "row_file.h"

#include <cerrno>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"

namespace lockstep::app {

RowFile::RowFile(const std::filesystem::path& path, Begin begin) : std::ostream(nullptr), rows_(path, begin) {
  rdbuf(&rows_);
}

RowFile::~RowFile() { flush(); }

RowFile::Rows::Rows(const std::filesystem::path& path, Begin begin)
    : descriptor_(::open(path.c_str(),
                         O_WRONLY | O_CREAT | O_CLOEXEC | (begin == Begin::new_file ? O_EXCL : 0), 0666)) {
  if (descriptor_ < 0)
    throw Error(Fault::ours, "{}: cannot {} the file: {}", path.string(),
                begin == Begin::new_file ? "create" : "open", std::generic_category().message(errno));
  size_ = ::lseek(descriptor_, 0, SEEK_END);
}

RowFile::Rows::~Rows() { ::close(descriptor_); }

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

}  // namespace lockstep::app
