#include "weights_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "arithmetic/convolution_rule.h"
#include "base/error.h"

namespace lockstep::app {
namespace {

const store::Tensor* find(const store::TensorFile& file, const std::string& name) {
  const auto found = std::ranges::find(file.tensors, name, &store::Tensor::name);
  return found == file.tensors.end() ? nullptr : &*found;
}

std::string text_of(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

void expect_only(const std::vector<model::Parameter>& parameters, const store::TensorFile& file,
                 const model::Model& model, const std::string& path) {
  for (const store::Tensor& tensor : file.tensors) {
    if (std::ranges::find(parameters, tensor.name, &model::Parameter::name) == parameters.end())
      throw Error(Fault::data, "{}: expected only the parameters of model {}, found the tensor {:?}", path,
                  model.name, tensor.name);
  }
}

}  // namespace

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
                                      {"weights", to_hex(train::hash_of(weights))},
                                      {"epochs", fmt::format("{}", epochs)}}};
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    file.tensors.push_back({parameters[i].name, parameters[i].shape, weights[i]});
  return file;
}

train::Weights weights_in(const store::TensorFile& file, const model::Model& model, const std::string& path) {
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  expect_only(parameters, file, model, path);
  train::Weights weights;
  for (const model::Parameter& parameter : parameters) {
    const store::Tensor* const tensor = find(file, parameter.name);
    if (tensor == nullptr || tensor->shape != parameter.shape)
      throw Error(Fault::data, "{}: tensor {:?}: expected shape {} for model {}, found {}", path,
                  parameter.name, text_of(parameter.shape), model.name,
                  tensor == nullptr ? "no such tensor" : text_of(tensor->shape));
    weights.push_back(tensor->values);
  }
  return weights;
}

}  // namespace lockstep::app
