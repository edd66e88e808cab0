// A device that OpenCL drives.
#pragma once
#include <memory>
#include <string>

#include "gpu/kernel_cache.h"
#include "gpu/opencl/library.h"
#include "gpu/opencl/owned.h"

namespace lockstep::gpu::opencl {

struct OpenClOptions {
  Found found;
  OwnedDevice part = {};  // not null: only this part of the device
  Style style = {};
  CacheOptions cache = {};
  std::string more_build_options = {};  // for devices that are to be wrong
};

std::unique_ptr<Driver> make_opencl_driver(std::shared_ptr<const Library> library, OpenClOptions options);

// Divides a device into parts of `units` units each. Throws Error(device) if it cannot be divided so.
std::vector<OwnedDevice> divide(const Library& library, const Found& found, std::span<const int> units);

}  // namespace lockstep::gpu::opencl
