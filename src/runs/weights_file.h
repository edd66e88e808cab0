// A model's weights as a safetensors file: tensors named, shaped and ordered as model::parameters_of says.
#pragma once
#include <filesystem>
#include <string>

#include "model/model.h"
#include "store/config_file.h"
#include "store/tensor_file.h"
#include "train/job.h"

namespace lockstep::runs {

constexpr const char* kWeightsFile = "weights.safetensors";
constexpr const char* kConfigFile = "config.toml";
constexpr const char* kResultsFile = "results.csv";
constexpr const char* kMetricsFile = "metrics.jsonl";
constexpr const char* kHashesFile = "hashes.csv";

// The file itself, or `name` in a run directory.
std::filesystem::path file_of(const std::filesystem::path& run_or_file, const char* name);

// What the file says about its weights: model, convolution, law, job and weights hash, epochs that were
// finished. Of a run that was not interrupted this depends on [job] alone, so equal jobs give equal files.
store::TensorFile weights_file(const model::Model& model, const store::RunConfig& config,
                               const train::Weights& weights, std::size_t epochs);

// What users are told of a file that holds no hash of its weights: one line, without its end.
std::string unvouched_text(const std::filesystem::path& path);

}  // namespace lockstep::runs
