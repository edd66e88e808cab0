// A device proves its arithmetic before it may compute.
#pragma once
#include <string_view>

#include "cpu/kernels.h"

namespace lockstep::cpu {

// Checks, on the calling thread, what the law builds on: denormals are kept, multiply-adds are fused,
// rounding is to nearest even. A host program can change denormals and rounding for a thread; a device
// sets its threads to the law each time they take up work (base/float_environment.h).
// Throws Error(device) naming `device`, the operation, what was expected and what was found.
void probe_arithmetic(const Kernels& kernels, std::string_view device);

}  // namespace lockstep::cpu
