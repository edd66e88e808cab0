// The device that tests measure on.
#pragma once
#include "device/cpu/cpu_device.h"
#include "measure/make_device.h"

namespace lockstep::measure {

inline std::unique_ptr<device::Device> make_cpu_for_test(int threads) {
  return device::cpu::make_cpu_device({.threads = threads, .target = ""});
}

}  // namespace lockstep::measure
