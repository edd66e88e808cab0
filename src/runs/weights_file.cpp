#include "runs/weights_file.h"

#include <fmt/format.h>

#include "arithmetic/convolution_rule.h"
#include "train/stored_weights.h"

namespace lockstep::runs {
std::filesystem::path file_of(const std::filesystem::path& run_or_file, const char* name) {
  std::error_code ignored;  // what cannot be looked at fails when it is opened
  return std::filesystem::is_directory(run_or_file, ignored) ? run_or_file / name : run_or_file;
}

store::TensorFile weights_file(const model::Model& model, const store::RunConfig& config,
                               const train::Weights& weights, std::size_t epochs) {
  store::TensorFile file{.tensors = {},
                         .metadata = {{"model", model.name},
                                      {"convolution", std::string(arithmetic::name_of(model.convolution))},
                                      {"law", fmt::format("{}", config.job.law)},
                                      {"job", to_hex(store::job_hash(config))},
                                      {train::kWeightsHashKey, to_hex(train::hash_of(weights))},
                                      {"epochs", fmt::format("{}", epochs)}}};
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    file.tensors.push_back({parameters[i].name, parameters[i].shape, weights[i]});
  return file;
}

std::string unvouched_text(const std::filesystem::path& path) {
  return fmt::format("{}: the file holds no hash of its weights; nothing vouches for them", path.string());
}

}  // namespace lockstep::runs
