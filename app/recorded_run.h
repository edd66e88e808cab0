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

// Reads config, hashes and every checkpoint that verifies for data of these sizes. Throws Error(data) naming
// the file that is missing or damaged.
StoredRun read_run(const std::filesystem::path& run, const store::DataSizes& sizes);

}  // namespace lockstep::app
