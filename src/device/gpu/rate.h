// How fast a device multiplies and adds.
#pragma once
#include "device/gpu/driver.h"

namespace lockstep::device::gpu {

// Fused multiply-adds a second, out of registers: what kernels are held against.
double fma_rate(Driver& driver);

}  // namespace lockstep::device::gpu
