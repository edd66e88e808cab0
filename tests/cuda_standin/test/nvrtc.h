// NVRTC, opened at run time.
#pragma once

#include <string>
#include <vector>

namespace standin_test {

// Whether there is an NVRTC: $NVRTC_LIBRARY, /usr/local/cuda*/lib*, or the wheel in .venv.
bool have_nvrtc();

// CUDA C++ to PTX, with the options that keep the bits. Throws std::runtime_error with NVRTC's log.
std::string compile(const std::string& source, const std::vector<std::string>& more_options = {});

// The same with these options alone.
std::string compile_with(const std::string& source, const std::vector<std::string>& options);

}  // namespace standin_test
