// A training that is kept in a directory: made, or taken up again.
#pragma once
#include <memory>
#include <optional>

#include <lockstep/train_options.h>

#include "runs/run_files.h"
#include "runs/taken_run.h"
#include "train/trainer.h"

namespace lockstep {
inline namespace api {

class KeptRun {
 public:
  // Looks at the directory before anything long begins, and takes a run up again if the options say so.
  // Throws Error(usage) if the directory is there but should not be, or if its run is of another job;
  // Error(data) if it holds no run that can go on.
  KeptRun(const TrainOptions& options, const train::Job& job);

  // Where a run that is taken up again stands.
  std::optional<train::TrainState> state() const;

  // Makes the files, or goes on in them. Gives lines about what was damaged or missing.
  std::vector<std::string> open(const std::vector<std::string>& devices);

  std::vector<train::Observer*> observers() { return files_->observers(); }
  void save_checkpoint(const train::TrainState& state) { files_->save_checkpoint(state); }
  void finish(const train::TrainResult& result, const std::vector<std::string>& devices) {
    files_->finish(result, devices);
  }

 private:
  const std::filesystem::path directory_;
  const model::Model model_;
  const bool record_;
  store::RunConfig config_;
  std::optional<runs::TakenRun> taken_;
  std::unique_ptr<runs::RunFiles> files_;
};

}  // namespace api
}  // namespace lockstep
