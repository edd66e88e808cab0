// A device proves its arithmetic before it may compute.
#pragma once
#include <string_view>

#include "device/cpu/kernels.h"

namespace lockstep::device::cpu {

// Checks, on the calling thread, what the law builds on: denormals are kept, multiply-adds are fused,
// rounding is to nearest even. A host program or library can switch the first and the last off for a thread.
// Throws Error(device) naming `device`, the operation, what was expected and what was found.
void probe_arithmetic(const Kernels& kernels, std::string_view device);

}  // namespace lockstep::device::cpu
