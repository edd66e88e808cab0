// How fast a device multiplies and adds.
#pragma once
#include "gpu/driver.h"

namespace lockstep::gpu {

// Fused multiply-adds a second, out of registers: what kernels are held against.
double fma_rate(Driver& driver);

}  // namespace lockstep::gpu
