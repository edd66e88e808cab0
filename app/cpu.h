// The device that commands run on.
#pragma once
#include <memory>

#include "device/device.h"
#include "numbers.h"

namespace lockstep::app {

constexpr WholeRange kThreads{1, 1024};

// A team of `threads`, with the kernels LOCKSTEP_TARGET names if it is set. A team that does not come back
// ends the process: nothing can stop a thread that is stuck. Throws Error(device) if this host has no such
// team, Error(usage) if there are no such kernels.
std::unique_ptr<device::Device> make_cpu(int threads);

}  // namespace lockstep::app
