// results.csv, metrics.jsonl and hashes.csv of a run that is taken up again, brought to where its checkpoint
// stands. Rows after the checkpoint go: they are about to be written again. Rows before it can be missing
// after a loss of power, or in a part that was trained with --no-record.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "train/trainer.h"

namespace lockstep::runs {

struct RowsAtCheckpoint {
  std::vector<std::string> tensors;  // of the model, by name
  bool record = true;                // hashes.csv goes on
};

// Writes missing rows again as far as the state knows them: every epoch, and the hashes of its own step.
// Returns a line for people, with its end, that says which rows were missing; empty if none was.
// Throws Error(data) if a file cannot be read, Error(ours) if it cannot be written.
std::string bring_rows_to(const train::TrainState& state, const std::filesystem::path& run,
                          const RowsAtCheckpoint& rows);

}  // namespace lockstep::runs
