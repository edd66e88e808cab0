// The first number in which two states of a training, or the parameters of two, differ.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "run/state.h"

namespace lockstep::audit {

struct ElementDifference {
  std::string layer;             // conv2
  std::string tensor;            // conv2.weight, conv2.weight.velocity
  std::size_t index = 0;         // in canonical order
  std::vector<std::int64_t> at;  // the same in the tensor's shape: [3, 1, 0, 2]
  float expected = 0, found = 0;
};

// In the order of the state. Bits count, so NaN equals itself and +0 is not -0.
// Requires: both have the tensors of model::state_tensors(), or the first of them.
std::optional<ElementDifference> first_difference(const std::vector<model::StateTensor>& tensors,
                                                  const run::Weights& expected, const run::Weights& found);

// "layer conv2, tensor conv2.weight, element [3, 1, 0, 2]: 0x3f800000 (1) where 0x3f800001 (1.0000001) is
// expected"
std::string to_text(const ElementDifference& difference);

}  // namespace lockstep::audit
