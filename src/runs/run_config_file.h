// Reading the config.toml of an earlier run.
#pragma once
#include <filesystem>
#include <optional>

#include "store/config_file.h"

namespace lockstep::runs {

// Throws Error(data) if the file cannot be read, Error(usage) naming line and key if it is not a config.
store::RunConfig read_config(const std::filesystem::path& file);

// The config in a run directory; nothing if there is none or if it is not a directory.
std::optional<store::RunConfig> config_of_run(const std::filesystem::path& run);

}  // namespace lockstep::runs
