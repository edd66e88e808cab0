// The OpenCL devices that random cases are run on.
#pragma once
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "device/inventory.h"
#include "device/kernels_for_test.h"

namespace lockstep {

// OpenCL devices of one thread, which serve all cases: they compile their kernels once. None, and a line that
// says so, where this machine has no such devices.
inline std::vector<std::unique_ptr<device::Device>> make_opencl_devices() {
  constexpr int kMost = 2;
  device::Inventory inventory({.cache = device::kernels_for_test()});
  const auto first = std::ranges::find_if(
      inventory.listed(), [](const device::Listed& d) { return d.name.starts_with("opencl:"); });
  const bool divided = first != inventory.listed().end() && first->on_cores;
  std::vector<std::string> names;
  for (int i = 0; i < (divided ? std::min(first->units, kMost) : 1); ++i)
    names.push_back(fmt::format("opencl:{}", i));
  try {
    return std::move(inventory.make(names, {.threads = 1, .bind = false}).devices);
  } catch (const Error& error) {
    std::cout << "Without OpenCL: " << error.what() << std::endl;
    return {};
  }
}

inline const std::vector<std::unique_ptr<device::Device>>& opencl_devices() {
  static const std::vector<std::unique_ptr<device::Device>> devices = make_opencl_devices();
  return devices;
}

}  // namespace lockstep
