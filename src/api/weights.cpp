#include <fmt/format.h>
#include <fmt/ranges.h>
#include <lockstep/weights.h>

#include "api/convert.h"
#include "arithmetic/convolution_rule.h"
#include "base/error.h"
#include "runs/weights_file.h"
#include "store/tensor_file.h"
#include "store/tensor_file_reader.h"
#include "train/job.h"
#include "train/stored_weights.h"

namespace lockstep {
inline namespace api {
namespace {

constexpr const char* kLaw = "1";

std::string text_of(const std::string& name, const std::vector<std::int64_t>& shape) {
  return fmt::format("{} [{}]", name, fmt::join(shape, ", "));
}

// What keeps `tensors` from being the model's, in model order; empty if they are.
std::string misfit(const std::vector<Tensor>& tensors, const std::vector<model::Parameter>& parameters) {
  for (std::size_t i = 0; i < parameters.size() || i < tensors.size(); ++i) {
    const std::string expected =
        i < parameters.size() ? text_of(parameters[i].name, parameters[i].shape) : "no more tensors";
    const std::string found =
        i < tensors.size() ? text_of(tensors[i].name, tensors[i].shape) : "no more tensors";
    if (expected != found) return fmt::format("tensor {}: expected {}, found {}", i, expected, found);
    if (tensors[i].values.size() != parameters[i].elements())
      return fmt::format("tensor {}: expected {} numbers for {}, found {}", i, parameters[i].elements(),
                         expected, tensors[i].values.size());
  }
  return {};
}

}  // namespace

run::Weights to_inside(const Weights& weights, const model::Model& model) {
  const std::string fault = misfit(weights.tensors, model::parameters_of(model));
  if (!fault.empty())
    throw Error(Fault::usage, "weights for model {}: {}; give those of this model", model.name, fault);
  run::Weights inside;
  for (const Tensor& tensor : weights.tensors) inside.push_back(tensor.values);
  return inside;
}

Weights to_public(const run::Weights& weights, const model::Model& model) {
  Weights outside;
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    outside.tensors.push_back({parameters[i].name, parameters[i].shape, weights.at(i)});
  return outside;
}

std::string Weights::hash() const {
  run::Weights numbers;
  for (const Tensor& tensor : tensors) numbers.push_back(tensor.values);
  return to_hex(train::hash_of(numbers));
}

Weights initial_weights(const Model& model, std::uint64_t seed) {
  const model::Model inside = to_inside(model);
  return to_public(train::initial_weights(inside, seed), inside);
}

void save_weights(const std::filesystem::path& path, const Model& model, const Weights& weights) {
  const model::Model inside = to_inside(model);
  static_cast<void>(to_inside(weights, inside));  // refuses what is not the model's
  store::TensorFile file{{},
                         {{"model", model.name},
                          {"convolution", std::string(arithmetic::name_of(inside.convolution))},
                          {"law", kLaw},
                          {train::kWeightsHashKey, weights.hash()}}};
  for (const Tensor& tensor : weights.tensors)
    file.tensors.push_back({tensor.name, tensor.shape, tensor.values});
  store::write_tensor_file(path, file);
}

Weights load_weights(const std::filesystem::path& path, const Model& model,
                     const std::function<void(const std::string&)>& on_warning) {
  const model::Model inside = to_inside(model);
  store::TensorFileReader reader(path, store::Counters::skipped);
  const train::StoredWeights stored = train::read_weights(reader, inside);
  if (!stored.vouched && on_warning) on_warning(runs::unvouched_text(path));
  return to_public(stored.weights, inside);
}

}  // namespace api
}  // namespace lockstep
