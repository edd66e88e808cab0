// The devices that OpenCL's platforms have. One that fails does not take the others away.
#pragma once
#include <string>
#include <vector>

#include "gpu/driver.h"
#include "gpu/opencl/api.h"

namespace lockstep::gpu::opencl {

// A device of a platform.
struct Found {
  PlatformId platform = nullptr;
  DeviceId device = nullptr;
  Facts facts;
  int vector_floats = 1;  // that the device's own vectors hold
  bool cpu = false;       // its units are the host's cores and can be divided among several devices
};

struct Findings {
  std::vector<Found> devices;         // platform after platform, named opencl:0, opencl:1, ...
  std::vector<std::string> left_out;  // a line for each platform or device that fails
};

// The devices of all platforms. Throws Error(device) if the library does not list its platforms.
Findings find_devices(const Api& api);

}  // namespace lockstep::gpu::opencl
