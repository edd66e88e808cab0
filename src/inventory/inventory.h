// The devices of this machine, and how names become devices. The only place that knows every kind.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace lockstep::gpu {
class Driver;
}

namespace lockstep::inventory {

// How much a GPU has to prove before it may compute.
enum class ProbeKind {
  usual,  // thousands of cases; what a device and driver have proven is remembered
  full,   // millions, every time
};

struct InventoryOptions {
  std::filesystem::path cache = {};  // what is remembered between runs; empty: nothing
  std::string cuda_library = {};     // instead of the driver's own
  std::string nvrtc_library = {};    // instead of where toolkits put it
  ProbeKind probe = ProbeKind::usual;
  // Told, in one line, what takes long.
  std::function<void(const std::string&)> on_wait = [](const std::string&) {};
  // A device that does not answer for so long while it proves itself is named to on_stuck, which may end the
  // process and must not throw.
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  std::function<void(const std::string&)> on_stuck = [](const std::string&) {};
};

// A device of this machine, whether it may compute or not.
struct Listed {
  std::string name;   // cuda:0
  std::string kind;   // CUDA GPU, OpenCL GPU, OpenCL CPU
  std::string model;  // as its driver calls it
  std::string driver;
  std::size_t memory = 0;  // bytes
  int units = 0;           // that compute at the same time
  bool gpu = false;
  bool on_cores = false;  // computes on the cores of this host
};

// How devices that compute on this host's cores live together.
struct MakeOptions {
  int threads = 0;  // of each; 0: the usable cores divided among them, at least 1
  std::string target = {};
  std::size_t memory =
      std::numeric_limits<std::size_t>::max();  // bytes of the host's that CPU devices may take
  bool bind = true;
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  std::function<void(const std::string&)> on_stuck = nullptr;
};

struct MadeDevices {
  std::vector<std::unique_ptr<device::Device>> devices;
  bool share_cores = false;  // there are more threads than cores
};

class Inventory {
 public:
  explicit Inventory(InventoryOptions options = {});
  ~Inventory();
  Inventory(const Inventory&) = delete;
  Inventory& operator=(const Inventory&) = delete;

  // GPUs and what else speaks their languages. Opens the drivers' libraries when it is first asked.
  const std::vector<Listed>& listed();

  // Why there are no devices of a kind, a line each: "no CUDA driver found (...)"; and what was left out of a
  // kind because it fails.
  const std::vector<std::string>& missing();

  // GPUs in the order they are given out: CUDA first, then those of OpenCL.
  std::vector<std::string> gpus();

  // One device a name, in order. An OpenCL device that computes on this host's cores can stand for several
  // names, each of which gets a part of the cores. Throws Error(device) for a name that is not there, with
  // those that are, and for one that is there but may not or cannot compute.
  MadeDevices make(const std::vector<std::string>& names, const MakeOptions& options);

  // Why a device may not compute, in one line; nothing if it may. A CUDA device is then ready to be made.
  std::string refusal(const std::string& name);

  // Multiply-adds a second that a device reaches, or why it may not compute.
  struct Trial {
    double multiply_adds = 0;
    std::string refused = {};  // empty: it may compute
  };
  Trial try_out(const std::string& name);

 private:
  struct Kinds;
  Kinds& kinds();
  void prove(gpu::Driver& driver);
  bool cuda_computes();
  std::unique_ptr<gpu::Driver> make_cuda(const std::string& name);
  std::unique_ptr<gpu::Driver> make_proven(const std::string& name);

  InventoryOptions options_;
  std::unique_ptr<Kinds> kinds_;
};

}  // namespace lockstep::inventory
