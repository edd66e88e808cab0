// The kernels of the update rules (simd/update.h).
#pragma once
#include <array>
#include <cstddef>

#include "arithmetic/update_rule.h"

namespace lockstep::cpu {

// Part of a parameter, of its mean gradient and of its states, which stand in the rule's order.
struct UpdateOperands {
  float* weights = nullptr;
  const float* gradient = nullptr;
  std::array<float*, arithmetic::kMostStates> states = {};
  std::size_t count = 0;
};
using UpdateFunction = void (*)(const UpdateOperands&, const arithmetic::UpdateScalars&);

}  // namespace lockstep::cpu
