// Where benches get their devices: who calls them chooses kind, kernels and what to do when one is stuck.
#pragma once
#include <functional>
#include <memory>

#include "device/device.h"

namespace lockstep::measure {

using MakeDevice = std::function<std::unique_ptr<device::Device>(int threads)>;

}  // namespace lockstep::measure
