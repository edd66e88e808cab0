// The devices that commands run on.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drill.h"
#include "numbers.h"
#include "run/crew.h"

namespace lockstep::app {

constexpr WholeRange kThreads{1, 1024};
constexpr double kTimeout = 60;  // seconds

struct CrewOptions {
  std::vector<std::string> devices = {"cpu:0"};
  int threads = 0;  // of each device; 0: the cores this process may use, divided among them
  double timeout = kTimeout;
  bool bind = true;
  std::optional<DeviceDrill> drill = {};  // for the device it names, if there is one
};

// Compute threads of each of `devices` devices, if nobody says.
int default_threads(std::size_t devices);

// CPU devices with the kernels LOCKSTEP_TARGET names if it is set. A device that makes no progress for the
// timeout ends the process: nothing can stop a thread that is stuck. Throws Error(device) if this host has no
// such devices, Error(usage) if there are no such kernels.
std::unique_ptr<run::Crew> make_crew(const CrewOptions& options);

// Devices that get no pack of a minibatch, as a line for stderr; empty if all have something to do.
std::string idle_devices(const std::vector<std::string>& devices, int batch);

}  // namespace lockstep::app
