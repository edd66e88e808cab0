#include "train/stored_weights.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "store/finite_values.h"

namespace lockstep::train {
namespace {

std::string text_of(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

void expect_parameters(const store::TensorFileReader& reader, const std::vector<model::Parameter>& parameters,
                       const model::Model& model) {
  const auto known = [&](std::string_view name) {
    return std::ranges::find(parameters, name, &model::Parameter::name) != parameters.end();
  };
  for (const store::TensorShape& tensor : reader.tensors()) {
    if (!known(tensor.name))
      throw Error(Fault::data,
                  "{}: expected only the parameters of model {}, found the tensor {:?} of shape {}",
                  reader.file(), model.name, tensor.name, text_of(tensor.shape));
  }
  for (const std::string& counter : reader.counters()) {
    if (!known(counter.substr(0, counter.rfind('.')) + ".running_mean"))
      throw Error(Fault::data, "{}: expected only the parameters of model {}, found the tensor {:?}",
                  reader.file(), model.name, counter);
  }
  for (const model::Parameter& parameter : parameters) {
    const auto tensor = std::ranges::find(reader.tensors(), parameter.name, &store::TensorShape::name);
    const bool there = tensor != reader.tensors().end();
    if (!there || tensor->shape != parameter.shape)
      throw Error(Fault::data, "{}: tensor {:?}: expected shape {} for model {}, found {}", reader.file(),
                  parameter.name, text_of(parameter.shape), model.name,
                  there ? text_of(tensor->shape) : "no such tensor");
  }
}

// False if the file says nothing about its weights.
bool expect_hash(const store::TensorFileReader& reader, const Weights& weights) {
  const auto stored = reader.metadata().find(kWeightsHashKey);
  if (stored == reader.metadata().end()) return false;
  if (const std::string found = to_hex(hash_of(weights)); stored->second != found)
    throw Error(Fault::data,
                "{}: expected weights with hash {:?}, as its metadata says, found {:?}; the file is damaged",
                reader.file(), stored->second, found);
  return true;
}

}  // namespace

StoredWeights read_weights(store::TensorFileReader& reader, const model::Model& model) {
  const std::vector<model::Parameter> parameters = model::parameters_of(model);
  expect_parameters(reader, parameters, model);
  std::vector<store::Tensor> tensors = reader.read_values();
  StoredWeights stored;
  for (const model::Parameter& parameter : parameters)
    stored.weights.push_back(std::ranges::find(tensors, parameter.name, &store::Tensor::name)->values);
  stored.vouched = expect_hash(reader, stored.weights);
  for (const store::Tensor& tensor : tensors) store::check_finite(tensor, reader.file());
  return stored;
}

}  // namespace lockstep::train
