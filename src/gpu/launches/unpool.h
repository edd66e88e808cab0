// Back through a 2x2 average pool and the relu before it: alone, or before a weight gradient.
#pragma once
#include "gpu/launches/pack_launches.h"

namespace lockstep::gpu {

struct UnpoolMemory {
  const Memory *dy, *mask, *dx;
};

void launch_unpool(const PackLaunches& launches, const program::Pool& pool, const UnpoolMemory& memory);

}  // namespace lockstep::gpu
