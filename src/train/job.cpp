#include "train/job.h"

#include "base/error.h"
#include "base/float_environment.h"
#include "train/pictures.h"

namespace lockstep::train {

Weights initial_weights(const model::Model& model, std::uint64_t seed) {
  const FloatEnvironment environment;
  Weights weights;
  for (const model::Parameter& parameter : model::parameters_of(model)) {
    model::fill_initial(parameter, seed, weights.emplace_back(parameter.elements()));
  }
  return weights;
}

Hash128 hash_of(const Weights& weights) {
  Hasher128 hasher;
  for (const std::vector<float>& values : weights) hasher.add(std::as_bytes(std::span(values)));
  return hasher.digest();
}

void check_fits(const model::Model& model, const data::Dataset& dataset) {
  const model::Shape pictures = pictures_of(dataset).shape;
  if (pictures != model.input) {
    throw Error(Fault::usage, "model {} takes pictures of {}, the data has {}", model.name,
                to_string(model.input), to_string(pictures));
  }
  if (dataset.classes != model::classes_of(model)) {
    throw Error(Fault::usage, "model {} knows {} classes, the data has {}", model.name,
                model::classes_of(model), dataset.classes);
  }
}

}  // namespace lockstep::train
