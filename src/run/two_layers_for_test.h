// A small model for tests, and weights for any model.
#pragma once
#include "model/model.h"
#include "run/state.h"

namespace lockstep::run {

// Pictures of 6x6, four classes.
inline model::Model two_layers() {
  return {"two",
          {1, 6, 6},
          {{"conv1", model::Conv2d{3, {3, 3}}},
           {"relu1", model::Relu{}},
           {"flatten1", model::Flatten{}},
           {"linear1", model::Linear{4}}},
          0.3};
}

// Numbers from -0.45 to 0.55 that depend on their index alone.
inline Weights weights_by_index(const model::Model& model) {
  Weights weights;
  for (const model::Parameter& p : model::parameters_of(model)) {
    std::vector<float>& values = weights.emplace_back(p.elements());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i * 29 % 17) / 16.0f - 0.45f;
  }
  return weights;
}

}  // namespace lockstep::run
