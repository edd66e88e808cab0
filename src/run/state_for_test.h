// States with given numbers.
#pragma once
#include "base/error.h"
#include "run/state.h"

namespace lockstep::run {

inline State with_numbers(State state, const Weights& numbers) {
  check(state.size() == numbers.size(), "{} tensors of numbers for a state of {}", numbers.size(),
        state.size());
  for (std::size_t t = 0; t < state.size(); ++t) state[t].numbers = numbers[t];
  return state;
}

// Numbers that tell tensors and elements apart.
inline State numbered_state(const model::Model& model, arithmetic::UpdateKind rule) {
  State state;
  for (const model::StateTensor& tensor : model::state_tensors(model, rule)) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < tensor.elements(); ++i)
      numbers.push_back(static_cast<float>(state.size() * 1'000'000 + i));
    state.push_back({tensor.name, std::move(numbers)});
  }
  return state;
}

}  // namespace lockstep::run
