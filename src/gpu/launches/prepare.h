// Weights as the kernels want them, once a step.
#pragma once
#include "gpu/launches/launch_context.h"

namespace lockstep::gpu {

// Requires: the instruction is a Prepare.
void launch_prepare(const LaunchContext& context, const program::Instruction& instruction);

}  // namespace lockstep::gpu
