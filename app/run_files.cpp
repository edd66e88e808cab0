#include "run_files.h"

#include <chrono>
#include <iostream>
#include <sstream>
#include <utility>

#include "base/atomic_file.h"
#include "environment.h"
#include "report/curve_svg.h"
#include "report/metrics_jsonl.h"
#include "report/progress.h"
#include "report/results_csv.h"
#include "row_file.h"
#include "store/run_directory.h"
#include "store/tensor_file.h"
#include "weights_file.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

fs::path make_directory(const std::optional<fs::path>& out, const store::RunConfig& config) {
  if (!out) return store::create_run_directory("runs", config.job.model);
  store::create_given_directory(*out);
  return *out;
}

void write_config(const fs::path& directory, const store::RunConfig& config) {
  try {
    write_file_atomically(directory / kConfigFile, store::to_toml(config));
  } catch (...) {
    std::error_code ignored;
    fs::remove(directory, ignored);  // a run that knows nothing of itself is none
    throw;
  }
}

}  // namespace

struct RunFiles::Reports {
  explicit Reports(const fs::path& directory)
      : csv_file(directory / "results.csv"),
        jsonl_file(directory / "metrics.jsonl"),
        csv(csv_file, (directory / "results.csv").string()),
        jsonl(jsonl_file, (directory / "metrics.jsonl").string()),
        curve(curve_text, (directory / "curve.svg").string()),
        progress(std::cerr, progress_options(), seconds_now) {}

  RowFile csv_file, jsonl_file;
  std::ostringstream curve_text;
  report::ResultsCsv csv;
  report::MetricsJsonl jsonl;
  report::CurveSvg curve;
  report::Progress progress;
};

RunFiles::RunFiles(const std::optional<fs::path>& out, store::RunConfig config)
    : config_(std::move(config)), directory_(make_directory(out, config_)) {
  write_config(directory_, config_);
  reports_ = std::make_unique<Reports>(directory_);
}

RunFiles::~RunFiles() = default;

std::vector<train::Observer*> RunFiles::observers() {
  return {&reports_->csv, &reports_->jsonl, &reports_->curve, &reports_->progress};
}

train::RunEnd RunFiles::finish(const model::Model& model, const train::TrainResult& result,
                               const std::string& device) {
  train::RunEnd end{.epochs = result.epochs,
                    .devices = {device},
                    .weights_hash = to_hex(train::hash_of(result.weights)),
                    .run_directory = directory_.string(),
                    .interrupted = result.interrupted};
  // the weights are what took the time
  store::write_tensor_file(directory_ / kWeightsFile,
                           weights_file(model, config_, result.weights, result.epochs.size()));
  for (train::Observer* observer : observers()) observer->on_end(end);
  write_file_atomically(directory_ / "curve.svg", reports_->curve_text.str());
  return end;
}

}  // namespace lockstep::app
