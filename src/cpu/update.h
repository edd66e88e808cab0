// An update by the kernel of its rule.
#pragma once
#include "arithmetic/update_rule.h"
#include "cpu/kernels.h"

namespace lockstep::cpu {

void update(const Kernels& kernels, arithmetic::UpdateKind rule, const UpdateOperands& operands,
            const arithmetic::UpdateScalars& scalars);

}  // namespace lockstep::cpu
