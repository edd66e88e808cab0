// A CPU device: a team of threads that share one set of parameters. Packs go to threads, their sums meet in
// the pack tree.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cpu/cores.h"
#include "cpu/free_memory.h"
#include "cpu/workspace.h"
#include "device/device.h"

namespace lockstep::cpu {

struct CpuOptions {
  std::string name = "cpu:0";
  int threads = 0;          // 0: every core this process may use
  std::string target = {};  // name of a row of kernels; empty: the best
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  std::function<void(const std::string&)> on_stuck = nullptr;  // see ThreadTeam

  // Bytes that all CPU devices of a run may take together; what the host has free is another limit.
  std::size_t memory = kNoLimit;

  // Not null: shared with the devices that use the same cores. Null: its own, one a thread.
  std::shared_ptr<WorkspacePool> workspaces = nullptr;
  int own_workspaces = 0;     // of the shared ones, which count for this device in its memory plan
  bool shares_cores = false;  // threads that wait should not spin then

  // Not null: its threads stay on the cores first_core, first_core + 1, ... or, where cores are shared, go to
  // the core of the workspace they take.
  std::shared_ptr<const Cores> cores = nullptr;
  int first_core = 0;
};

std::unique_ptr<device::Device> make_cpu_device(const CpuOptions& options);

// How several devices live on one machine.
struct CpuTeamOptions {
  std::vector<std::string> names = {"cpu:0"};
  int threads = 0;  // of each; 0: the usable cores divided among the devices, at least 1
  int others = 0;   // devices of other kinds that compute on the same cores, with as many threads each
  std::string target = {};
  std::size_t memory = kNoLimit;  // of all together
  bool bind = true;               // where every thread of every device can have a core of its own
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  std::function<void(const std::string&)> on_stuck = nullptr;
};

// One device a name. Devices share workspaces, and cores where there are too few.
std::vector<std::unique_ptr<device::Device>> make_cpu_devices(const CpuTeamOptions& options);

}  // namespace lockstep::cpu
