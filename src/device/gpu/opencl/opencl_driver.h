// A device that OpenCL drives.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "device/gpu/opencl/library.h"

namespace lockstep::device::gpu::opencl {

struct OpenClOptions {
  Found found;
  // Not null: only this part of the device. It is released with the driver.
  DeviceId part = nullptr;
  Style style = {};
  std::filesystem::path cache = {};          // of compiled kernels; empty: none
  std::filesystem::path log_directory = {};  // for what a compiler says that refuses the kernels
  std::string more_build_options = {};       // for devices that are to be wrong
};

std::unique_ptr<Driver> make_opencl_driver(std::shared_ptr<const Library> library, OpenClOptions options);

// Divides a device into parts of so many units each. Throws Error(device) if it cannot be divided so.
std::vector<DeviceId> divide(const Library& library, const Found& found, std::span<const int> units);

}  // namespace lockstep::device::gpu::opencl
