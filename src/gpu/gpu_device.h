// A device that a GPU driver runs.
#pragma once
#include <memory>

#include "device/device.h"
#include "gpu/driver.h"

namespace lockstep::gpu {

std::unique_ptr<device::Device> make_gpu_device(std::unique_ptr<Driver> driver);

}  // namespace lockstep::gpu
