// The GPU devices that random cases are run on. They serve all cases: they compile their kernels once.
#pragma once
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "device/kernels_for_test.h"
#include "gpu/cuda/cuda_driver.h"
#include "gpu/cuda/standin_for_test.h"
#include "gpu/gpu_device.h"
#include "gpu/opencl/opencl_driver.h"
#include "inventory/inventory.h"

namespace lockstep {

using GpuDevices = std::vector<std::unique_ptr<device::Device>>;

// What is left out is said: tests/skipped.py looks for these words.
inline GpuDevices without(const char* kind, const std::string& why) {
  std::cout << "Without " << kind << ": " << why << std::endl;
  return {};
}

// As a user gets them, of one thread each: on a CPU a work-item holds a pack.
inline GpuDevices make_opencl_devices() {
  constexpr int kMost = 2;
  inventory::Inventory inventory({.cache = device::kernels_for_test()});
  const auto first = std::ranges::find_if(
      inventory.listed(), [](const inventory::Listed& d) { return d.name.starts_with("opencl:"); });
  if (first == inventory.listed().end()) return without("OpenCL", "there is no device");
  std::vector<std::string> names;
  for (int i = 0; i < (first->on_cores ? std::min(first->units, kMost) : 1); ++i)
    names.push_back(fmt::format("opencl:{}", i));
  return std::move(inventory.make(names, {.threads = 1, .bind = false}).devices);
}

// As on a GPU: a work-item holds a lane.
inline GpuDevices make_opencl_lane_devices() {
  namespace opencl = gpu::opencl;
  std::string problem;
  const std::shared_ptr<const opencl::Library> library = opencl::Library::open(problem);
  if (!library) return without("OpenCL", problem);
  GpuDevices devices;
  for (const opencl::Found& found : library->devices())
    devices.push_back(gpu::make_gpu_device(opencl::make_opencl_driver(
        library, {.found = found, .style = gpu::kLaneStyle, .cache = device::kernels_for_test()})));
  return devices.empty() ? without("OpenCL", "there is no device") : std::move(devices);
}

// Stand-ins for CUDA devices, which reach each other.
inline GpuDevices make_cuda_devices() {
  namespace cuda = gpu::cuda;
  const cuda::Standin standin("devices=2");
  if (!standin.library()) return without("CUDA", standin.problem());
  std::string problem;
  if (!cuda::open_nvrtc(problem)) return without("CUDA", problem);
  GpuDevices devices;
  for (const cuda::Found& found : standin.library()->devices())
    devices.push_back(gpu::make_gpu_device(cuda::make_cuda_driver(
        standin.library(),
        {.found = found, .nvrtc_library = cuda::nvrtc_path(), .cache = device::kernels_for_test()})));
  return devices;
}

struct GpuKind {
  const char* name;
  GpuDevices devices;
};

// To be emptied before the program ends: when drivers of GPUs end with it, it is not known what is still
// there.
inline std::array<GpuKind, 3>& gpu_kinds() {
  static std::array<GpuKind, 3> kinds{GpuKind{"opencl", make_opencl_devices()},
                                      GpuKind{"opencl in lanes", make_opencl_lane_devices()},
                                      GpuKind{"cuda", make_cuda_devices()}};
  return kinds;
}

}  // namespace lockstep
