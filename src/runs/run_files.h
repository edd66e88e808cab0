// The run directory while a run fills it: config.toml, results.csv, metrics.jsonl, hashes.csv and
// checkpoints/, then weights.safetensors and curve.svg.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/config_file.h"
#include "store/run_directory.h"
#include "train/trainer.h"

namespace lockstep::runs {

constexpr const char* kRunsDirectory = "runs";

struct RunFilesOptions {
  std::optional<std::filesystem::path> out = {};  // make this one, else the next free runs/MODEL-N
  bool record = true;                             // keep hashes.csv
  // Further observers, beside the files. They live as long as RunFiles. In a run that is taken up again they
  // are told of its earlier epochs first.
  std::vector<train::Observer*> drawings = {};
};

class RunFiles {
 public:
  // Makes a directory and writes config.toml into it. Throws Error(usage) if `out` exists, Error(ours) naming
  // the path that cannot be written.
  RunFiles(const RunFilesOptions& options, const model::Model& model, store::RunConfig config);

  // Goes on in a run. Its rows end where its state stands; config.toml becomes this one.
  struct Taken {
    std::filesystem::path run;
    std::unique_ptr<store::RunLock> lock;
    const train::TrainState& state;
  };
  RunFiles(Taken taken, const RunFilesOptions& options, const model::Model& model, store::RunConfig config);
  ~RunFiles();
  RunFiles(const RunFiles&) = delete;
  RunFiles& operator=(const RunFiles&) = delete;

  const std::filesystem::path& directory() const { return directory_; }

  // A line with its end that says which rows of a run that was taken up again were missing; empty if none
  // was.
  const std::string& missing_rows() const { return missing_rows_; }

  // The files', which live as long as this, and the drawings.
  std::vector<train::Observer*> observers();

  // Rows are safe on disk first, so that none is missing up to where a checkpoint stands, also after a loss
  // of power.
  void save_checkpoint(const train::TrainState& state);

  // Saves weights and curve, tells the observers, and gives what they were told. Call once, last.
  train::RunEnd finish(const train::TrainResult& result, const std::vector<std::string>& devices);

 private:
  struct Reports;

  const model::Model model_;
  const store::RunConfig config_;
  const std::filesystem::path directory_;
  const std::unique_ptr<store::RunLock> lock_;
  std::string missing_rows_;
  std::unique_ptr<Reports> reports_;
};

}  // namespace lockstep::runs
