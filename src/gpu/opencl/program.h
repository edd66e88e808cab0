// The kernels, as a device's own compiler makes them. What it made is kept: Intel's takes twenty seconds;
// loading kept kernels takes less than one.
#pragma once
#include <string>

#include "gpu/driver.h"
#include "gpu/kernel_cache.h"
#include "gpu/opencl/owned.h"

namespace lockstep::gpu::opencl {

struct ProgramOptions {
  const Facts& facts;  // of the device, and how its kernels are compiled
  int vector_floats;   // of the device: CPUs of one name may differ in it
  std::string source;
  CacheOptions cache = {};
};

// From the cache, else from the source. Throws Error(device) with the log's path if the compiler refuses the
// source.
OwnedProgram build_program(const Api& api, Context context, DeviceId device, const ProgramOptions& options);

}  // namespace lockstep::gpu::opencl
