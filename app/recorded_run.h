// A finished or stopped run, read back for a comparison.
#pragma once
#include <filesystem>

#include "audit/diff.h"
#include "store/config_file.h"

namespace lockstep::app {

struct StoredRun {
  store::RunConfig config;
  audit::RecordedRun recorded;
};

// Reads config, hashes and every checkpoint that verifies. Throws Error(data) naming the file that is missing
// or damaged.
StoredRun read_run(const std::filesystem::path& run, std::size_t examples);

}  // namespace lockstep::app
