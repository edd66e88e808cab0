// The run directory while a run fills it: config.toml, results.csv, metrics.jsonl, then weights.safetensors
// and curve.svg; and the progress on stderr beside them.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/config_file.h"
#include "train/trainer.h"

namespace lockstep::app {

class RunFiles {
 public:
  // Makes `out`, or the next free runs/MODEL-N of the current directory, and writes config.toml into it.
  // Throws Error(usage) if `out` exists, Error(ours) naming the path that cannot be written.
  RunFiles(const std::optional<std::filesystem::path>& out, store::RunConfig config);
  ~RunFiles();
  RunFiles(const RunFiles&) = delete;
  RunFiles& operator=(const RunFiles&) = delete;

  // They live as long as this.
  std::vector<train::Observer*> observers();

  // Saves weights and curve, tells the observers, and gives what they were told. Call once, last.
  train::RunEnd finish(const model::Model& model, const train::TrainResult& result,
                       const std::string& device);

 private:
  struct Reports;

  const store::RunConfig config_;
  const std::filesystem::path directory_;
  std::unique_ptr<Reports> reports_;
};

}  // namespace lockstep::app
