// OpenCL as it is found on this machine: the library, and the devices that its platforms have.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "device/gpu/driver.h"
#include "device/gpu/opencl/api.h"
#include "device/gpu/shared_library.h"

namespace lockstep::device::gpu::opencl {

// A device of a platform.
struct Found {
  PlatformId platform = nullptr;
  DeviceId device = nullptr;
  Facts facts;
  int vector_floats = 1;  // that the device's own vectors hold
  bool cpu = false;       // its units are the host's cores and can be divided among several devices
};

class Library {
 public:
  // Opens the library. Null if there is none; `problem` then says what is missing, in one line.
  static std::shared_ptr<const Library> open(std::string& problem);

  // All devices, platform after platform, named opencl:0, opencl:1, ... Throws Error(device) if the library
  // fails.
  std::vector<Found> devices() const;

  const Api& api() const { return api_; }

  // Throws Error(device) naming `device`, `call` and the error unless it is a success.
  static void expect(Int error, const std::string& device, std::string_view call);

 private:
  explicit Library(std::unique_ptr<SharedLibrary> library) : library_(std::move(library)) {}
  std::string text(DeviceId device, Uint what) const;
  Found describe(PlatformId platform, DeviceId device, int index) const;

  const std::unique_ptr<SharedLibrary> library_;
  Api api_;
};

}  // namespace lockstep::device::gpu::opencl
