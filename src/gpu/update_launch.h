// The kernel of an update rule, and its arguments.
#pragma once
#include <vector>

#include "arithmetic/update_rule.h"
#include "gpu/gpu_memory.h"

namespace lockstep::gpu {

struct UpdateLaunch {
  const char* kernel = "";
  std::vector<Argument> arguments = {};
};

// Updates `count` floats of the stretch of parameters, from float `first` on.
UpdateLaunch update_launch(arithmetic::UpdateKind rule, const GpuMemory& memory, int first, int count,
                           const arithmetic::UpdateScalars& s);

}  // namespace lockstep::gpu
