#include "runs/run_files.h"

#include <sstream>
#include <utility>

#include "base/atomic_file.h"
#include "report/curve_svg.h"
#include "report/metrics_jsonl.h"
#include "report/results_csv.h"
#include "runs/hash_rows.h"
#include "runs/row_file.h"
#include "runs/rows_at_checkpoint.h"
#include "runs/weights_file.h"
#include "store/checkpoint.h"
#include "store/run_directory.h"
#include "store/tensor_file.h"
#include "train/checkpoint.h"

namespace lockstep::runs {
namespace {

namespace fs = std::filesystem;

fs::path make_run_directory(const std::optional<fs::path>& out, const store::RunConfig& config) {
  if (!out) return store::create_run_directory(kRunsDirectory, config.job.model);
  store::create_given_directory(*out);
  return *out;
}

void write_config(const fs::path& directory, const store::RunConfig& config) {
  try {
    write_file_atomically(directory / kConfigFile, store::to_toml(config));
  } catch (...) {
    std::error_code ignored;
    fs::remove(directory, ignored);  // a run that knows nothing of itself is none; others are not empty
    throw;
  }
}

// Lets drawings begin where the run began, not where it was taken up again.
class Replay final : public train::Observer {
 public:
  explicit Replay(std::vector<train::Observer*> drawings) : drawings_(std::move(drawings)) {}
  void on_start(const train::RunStart& start) override {
    for (const train::EpochReport& epoch : start.done) {
      for (train::Observer* drawing : drawings_) drawing->on_epoch(epoch);
    }
  }

 private:
  const std::vector<train::Observer*> drawings_;
};

std::vector<train::Observer*> with(std::vector<train::Observer*> all, train::Observer& one) {
  all.push_back(&one);
  return all;
}

RowFile::Begin begin_of(const fs::path& file) {
  return fs::exists(file) ? RowFile::Begin::after_existing_rows : RowFile::Begin::new_file;
}

std::vector<std::string> parameter_names(const model::Model& model) {
  std::vector<std::string> names;
  for (const model::Parameter& parameter : model::parameters_of(model)) names.push_back(parameter.name);
  return names;
}

}  // namespace

struct RunFiles::Reports {
  Reports(const fs::path& directory, const model::Model& model, const RunFilesOptions& options)
      : csv_begins(fs::exists(directory / kResultsFile) ? report::ResultsCsv::Begin::after_existing_rows
                                                        : report::ResultsCsv::Begin::with_header),
        csv_file(directory / kResultsFile, begin_of(directory / kResultsFile)),
        jsonl_file(directory / kMetricsFile, begin_of(directory / kMetricsFile)),
        csv(csv_file, (directory / kResultsFile).string(), csv_begins),
        jsonl(jsonl_file, (directory / kMetricsFile).string()),
        curve(curve_text, (directory / "curve.svg").string()),
        drawings(options.drawings),
        replay(with(options.drawings, curve)) {
    if (!options.record) return;
    // A run that begins to record when it is taken up again has the rows from there on.
    const fs::path path = directory / kHashesFile;
    const bool header = !fs::exists(path);
    hash_file = std::make_unique<RowFile>(path, begin_of(path));
    hashes = std::make_unique<HashRows>(*hash_file, path.string(), parameter_names(model), header);
  }

  const report::ResultsCsv::Begin csv_begins;
  RowFile csv_file, jsonl_file;
  std::unique_ptr<RowFile> hash_file;  // null: nothing is recorded
  std::ostringstream curve_text;
  report::ResultsCsv csv;
  report::MetricsJsonl jsonl;
  std::unique_ptr<HashRows> hashes;
  report::CurveSvg curve;
  const std::vector<train::Observer*> drawings;
  Replay replay;
};

RunFiles::RunFiles(const RunFilesOptions& options, const model::Model& model, store::RunConfig config)
    : model_(model),
      config_(std::move(config)),
      directory_(make_run_directory(options.out, config_)),
      lock_(std::make_unique<store::RunLock>(directory_)) {
  write_config(directory_, config_);
  reports_ = std::make_unique<Reports>(directory_, model_, options);
}

RunFiles::RunFiles(Taken taken, const RunFilesOptions& options, const model::Model& model,
                   store::RunConfig config)
    : model_(model), config_(std::move(config)), directory_(taken.run), lock_(std::move(taken.lock)) {
  const train::TrainState& state = taken.state;
  const fs::path& run = directory_;
  store::remove_leftovers(run);
  missing_rows_ = bring_rows_to(state, run, {parameter_names(model_), options.record});
  write_file_atomically(run / kConfigFile, store::to_toml(config_));
  reports_ = std::make_unique<Reports>(directory_, model_, options);
}

RunFiles::~RunFiles() = default;

std::vector<train::Observer*> RunFiles::observers() {
  std::vector<train::Observer*> all{&reports_->csv, &reports_->jsonl, &reports_->curve};
  all.insert(all.end(), reports_->drawings.begin(), reports_->drawings.end());
  all.push_back(&reports_->replay);
  if (reports_->hashes) all.push_back(reports_->hashes.get());
  return all;
}

void RunFiles::save_checkpoint(const train::TrainState& state) {
  std::vector<RowFile*> files{&reports_->csv_file, &reports_->jsonl_file};
  if (reports_->hash_file) files.push_back(reports_->hash_file.get());
  for (RowFile* file : files) file->start_writing();
  for (RowFile* file : files) file->make_safe();
  store::write_checkpoint(directory_, train::checkpoint_of(state, model_, config_));
}

train::RunEnd RunFiles::finish(const train::TrainResult& result, const std::vector<std::string>& devices) {
  train::RunEnd end{.epochs = result.epochs,
                    .devices = devices,
                    .use = result.use,
                    .weights_hash = to_hex(train::hash_of(result.weights)),
                    .run_directory = directory_.string(),
                    .interrupted = result.interrupted};
  // the weights are what took the time
  store::write_tensor_file(directory_ / kWeightsFile,
                           weights_file(model_, config_, result.weights, result.epochs.size()));
  for (train::Observer* observer : observers()) observer->on_end(end);
  write_file_atomically(directory_ / "curve.svg", reports_->curve_text.str());
  return end;
}

}  // namespace lockstep::runs
