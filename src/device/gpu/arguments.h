// The shapes that kernels take, for the host that fills them in.
#pragma once

namespace lockstep::device::gpu {

#include "device/gpu/kernels/arguments.inc"

}  // namespace lockstep::device::gpu
