// A device that a GPU driver runs.
#pragma once
#include <memory>

#include "device/device.h"
#include "device/gpu/driver.h"

namespace lockstep::device::gpu {

std::unique_ptr<Device> make_gpu_device(std::unique_ptr<Driver> driver);

}  // namespace lockstep::device::gpu
