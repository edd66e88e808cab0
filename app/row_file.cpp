#include "row_file.h"

#include <cerrno>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"

namespace lockstep::app {

RowFile::RowFile(const std::filesystem::path& path) : std::ostream(nullptr), rows_(path) { rdbuf(&rows_); }

RowFile::~RowFile() { flush(); }

RowFile::Rows::Rows(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0)
    throw Error(Fault::ours, "{}: cannot create the file: {}", path.string(),
                std::generic_category().message(errno));
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
