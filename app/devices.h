// The devices that commands run on: from what people type to a crew.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drill.h"
#include "inventory/inventory.h"
#include "numbers.h"
#include "run/crew.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

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

// The devices of this machine as one command sees them. No library of a GPU is opened before something
// depends on it.
class Devices {
 public:
  Devices();

  // --probe usual|full. Requires: this outlives the parser.
  CLI::Option* add_probe(CLI::App& parser);

  // What `text` names, as device/device_list.h says; a line on stderr tells what was chosen where there was a
  // choice. A refusal names the option.
  std::vector<std::string> list(std::string_view option, std::string_view text);
  std::vector<std::vector<std::string>> settings(std::string_view option, std::string_view text);

  // CPU devices have the kernels LOCKSTEP_TARGET names if it is set, and take at most the MB of memory
  // that LOCKSTEP_MEMORY says. A device that makes no progress for the
  // timeout ends the process: nothing can stop a thread that is stuck. Throws Error(usage) if there are no
  // such kernels or that is no number, Error(device) if a device is not there, may not or cannot compute.
  std::unique_ptr<run::Crew> make_crew(const CrewOptions& options);

  inventory::Inventory& inventory();
  void set_probe(inventory::ProbeKind probe) { probe_ = probe; }  // before anything else
  // Before anything else: what is told who is stuck, instead of ending the process. Must not return.
  void set_on_stuck(std::function<void(const std::string&)> on_stuck) { on_stuck_ = std::move(on_stuck); }

 private:
  inventory::ProbeKind probe_ = inventory::ProbeKind::usual;
  std::function<void(const std::string&)> on_stuck_;
  std::unique_ptr<inventory::Inventory> inventory_;
};

// Compute threads of each of these devices, if none are given; 0 if some are not CPU devices, where it
// depends on how many of them compute on the cores.
int default_threads(const std::vector<std::string>& devices);

// What a CPU device's number means where it is above the number of `cores`, as a line for stderr; empty where
// the CPU devices are simply counted (3xcpu) or there is a core of every number.
std::string cpu_number_note(const std::vector<std::string>& devices, int cores);

// Devices that get no pack of a minibatch, as a line for stderr; empty if all have something to do.
std::string idle_devices(const run::Crew& crew, int batch, const std::vector<double>& shares = {});

}  // namespace lockstep::app
