// The first number in which two sets of weights differ.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "model/model.h"
#include "run/runner.h"

namespace lockstep::audit {

struct ElementDifference {
  std::string tensor;            // conv2.weight
  std::size_t index = 0;         // in canonical order
  std::vector<std::int64_t> at;  // the same in the tensor's shape: [3, 1, 0, 2]
  float expected = 0, found = 0;
};

// In the order of the model. Bits count, so NaN equals itself and +0 is not -0.
std::optional<ElementDifference> first_difference(const model::Model& model, const run::Weights& expected,
                                                  const run::Weights& found);

// "layer conv2, tensor conv2.weight, element [3, 1, 0, 2]: 0x3f800000 (1) where 0x3f800001 (1.0000001) is
// expected"
std::string to_text(const ElementDifference& difference);

}  // namespace lockstep::audit
