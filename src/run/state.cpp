#include "run/state.h"

namespace lockstep::run {

State initial_state(const model::Model& model, arithmetic::UpdateKind rule, const Weights& parameters) {
  State state;
  for (const model::StateTensor& tensor : model::state_tensors(model, rule)) {
    switch (tensor.kind) {
      case model::StateTensor::Kind::parameter:
        state.push_back({tensor.name, parameters.at(tensor.parameter)});
        break;
      case model::StateTensor::Kind::optimizer_state:
        state.push_back({tensor.name, std::vector<float>(tensor.elements(), 0.0f)});
        break;
    }
  }
  return state;
}

Weights numbers_of(const State& state) {
  Weights numbers;
  numbers.reserve(state.size());
  for (const NamedTensor& tensor : state) numbers.push_back(tensor.numbers);
  return numbers;
}

}  // namespace lockstep::run
