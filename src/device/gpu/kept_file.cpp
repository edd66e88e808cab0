#include "device/gpu/kept_file.h"

#include "base/atomic_file.h"
#include "base/error.h"

namespace lockstep::device::gpu {

bool try_to_keep(const std::filesystem::path& path, std::string_view text) {
  try {
    std::error_code ignored;  // seen when the file cannot be written
    std::filesystem::create_directories(path.parent_path(), ignored);
    write_file_atomically(path, text);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace lockstep::device::gpu
