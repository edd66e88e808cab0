// A CPU device: a team of threads that share one set of parameters. Packs go to threads, their sums meet in
// the pack tree.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "device/device.h"

namespace lockstep::device::cpu {

struct CpuOptions {
  std::string name = "cpu:0";
  int threads = 0;          // 0: every core this process may use
  std::string target = {};  // name of a row of kernels; empty: the best
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  std::function<void(const std::string&)> on_stuck = nullptr;  // see ThreadTeam
};

// Cores this process may use.
int usable_cores();

std::unique_ptr<Device> make_cpu_device(const CpuOptions& options);

}  // namespace lockstep::device::cpu
