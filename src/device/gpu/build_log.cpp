#include "device/gpu/build_log.h"

#include <algorithm>
#include <fstream>

#include "base/error.h"

namespace lockstep::device::gpu {

void throw_build_error(const std::string& device, const std::string& error, const std::string& log,
                       const std::filesystem::path& directory) {
  if (!directory.empty()) {
    std::string name = device + "-kernels.log";
    std::ranges::replace(name, ':', '-');
    const std::filesystem::path path = directory / name;
    std::error_code ignored;  // seen below, when the file cannot be written
    std::filesystem::create_directories(directory, ignored);
    std::ofstream file(path);
    file << log;
    if (file.flush())
      throw Error(Fault::device, "{}: its compiler refuses the kernels ({}); its log is {}", device, error,
                  path.string());
  }
  throw Error(Fault::device, "{}: its compiler refuses the kernels ({}): {}", device, error,
              log.substr(0, log.find('\n')));
}

}  // namespace lockstep::device::gpu
