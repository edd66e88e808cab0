// A run that is taken up again.
#pragma once
#include <filesystem>
#include <memory>

#include "store/checkpoint.h"
#include "store/run_directory.h"

namespace lockstep::runs {

struct TakenRun {
  std::filesystem::path run;
  std::unique_ptr<store::RunLock> lock;
  store::FoundCheckpoint found;  // the newest checkpoint that verifies
};

// Locks the run before its files are read. A checkpoint of another job than config.toml says, but for the
// number of epochs, is skipped as a damaged one is. Throws Error(usage) if another program has it,
// Error(data) if it is no run or none of its checkpoints verifies.
TakenRun take_up(const std::filesystem::path& run, const store::TensorsOf& tensors_of);

// Throws Error(usage) that begins with `option` if the run has begun more epochs than that, or if its
// schedule was made for another number of epochs: the steps it has done would have had other learning rates.
void expect_epochs_left(const TakenRun& taken, int epochs, std::string_view option);

}  // namespace lockstep::runs
