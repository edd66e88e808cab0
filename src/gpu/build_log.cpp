#include "gpu/build_log.h"

#include <algorithm>

#include "base/error.h"
#include "gpu/kept_file.h"

namespace lockstep::gpu {

void throw_build_error(const std::string& device, const std::string& error, const std::string& log,
                       const std::filesystem::path& directory) {
  if (!directory.empty()) {
    std::string name = device + "-kernels.log";
    std::ranges::replace(name, ':', '-');
    const std::filesystem::path path = directory / name;
    if (try_to_keep(path, log))
      throw Error(Fault::device, "{}: its compiler refuses the kernels ({}); its log is {}", device, error,
                  path.string());
  }
  throw Error(Fault::device, "{}: its compiler refuses the kernels ({}): {}", device, error,
              log.substr(0, log.find('\n')));
}

}  // namespace lockstep::gpu
