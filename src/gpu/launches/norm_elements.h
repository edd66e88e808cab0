// What batch norm does once a step, over elements.
#pragma once
#include "gpu/launches/launch_context.h"

namespace lockstep::gpu {

// False, and nothing launched: the instruction is another one.
bool launch_norm_elements(const LaunchContext& context, const program::Instruction& instruction);

}  // namespace lockstep::gpu
