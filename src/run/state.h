// The numbers of a training's state, whatever devices hold them.
#pragma once
#include <string>
#include <vector>

#include "model/state.h"

namespace lockstep::run {

// Numbers of all parameters, in model order, each in canonical order.
using Weights = std::vector<std::vector<float>>;

struct NamedTensor {
  std::string name;  // conv1.weight, conv1.weight.velocity
  std::vector<float> numbers;
};

// Tensors of model::state_tensors(), in that order.
using State = std::vector<NamedTensor>;

// Before the first step: these parameters, and +0 in all states of the update rule.
State initial_state(const model::Model& model, arithmetic::UpdateKind rule, const Weights& parameters);

// Tensor by tensor.
Weights numbers_of(const State& state);

}  // namespace lockstep::run
