// Between the public types and those of the rooms.
#pragma once
#include <lockstep/model.h>
#include <lockstep/weights.h>

#include "model/model.h"
#include "run/runner.h"

namespace lockstep {
inline namespace api {

// The default if nothing is said.
arithmetic::ConvolutionRule to_inside(const std::optional<Convolution>& convolution);

// Layers without a name get one by kind and number: conv1, relu1, pool1, ...
model::Model to_inside(const Model& model);
Model to_public(const model::Model& model);

// Throws Error(usage) naming the tensor that does not fit the model.
run::Weights to_inside(const Weights& weights, const model::Model& model);
Weights to_public(const run::Weights& weights, const model::Model& model);

}  // namespace api
}  // namespace lockstep
