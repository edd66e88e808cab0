// The text of the kernels, as a compiler of OpenCL C 1.2 or CUDA takes it.
#pragma once
#include <string>

#include "gpu/style.h"

namespace lockstep::gpu {

std::string kernel_source(const Style& style);

}  // namespace lockstep::gpu
