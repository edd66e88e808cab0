// What the environment says about the machine and the terminal.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "report/progress.h"

namespace lockstep::app {

// Empty if there is no such variable.
std::string environment_variable(std::string_view name);

// Where what may be lost is kept between runs: $LOCKSTEP_CACHE, else lockstep in $XDG_CACHE_HOME or ~/.cache;
// empty where there is no such place.
std::filesystem::path cache_directory();

// How progress may be shown on stderr: whether it is a terminal that can move its cursor, its size, and
// whether colors are welcome (https://no-color.org).
report::ProgressOptions progress_options();

}  // namespace lockstep::app
