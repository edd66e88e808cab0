// Where a compiler's words go when it refuses the kernels.
#pragma once
#include <filesystem>
#include <string>

namespace lockstep::gpu {

// Writes `log` to a file of `directory` and throws Error(device) that names device, error and file. With an
// empty directory, or one that cannot be written, the error carries the log's first line instead.
[[noreturn]] void throw_build_error(const std::string& device, const std::string& error,
                                    const std::string& log, const std::filesystem::path& directory);

}  // namespace lockstep::gpu
