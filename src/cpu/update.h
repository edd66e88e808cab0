// An update by the kernel of its rule.
#pragma once
#include <array>

#include "arithmetic/update_rule.h"
#include "cpu/kernels.h"

namespace lockstep::cpu {

// Part of a parameter, of its mean gradient and of its states, which stand in the rule's order.
struct UpdateOperands {
  float* weights = nullptr;
  const float* gradient = nullptr;
  std::array<float*, arithmetic::kMostStates> states = {};
  std::size_t count = 0;
};

void update(const Kernels& kernels, arithmetic::UpdateKind rule, const UpdateOperands& operands,
            const arithmetic::UpdateScalars& scalars);

}  // namespace lockstep::cpu
