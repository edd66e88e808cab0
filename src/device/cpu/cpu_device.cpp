#include "device/cpu/cpu_device.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <thread>

#include <sched.h>

#include "device/cpu/cpu_executable.h"
#include "device/cpu/probe.h"

namespace lockstep::device::cpu {
namespace {

// What the cgroup's quota of processor time amounts to, rounded up; without one, no limit.
int cores_of_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return std::numeric_limits<int>::max();
  return std::max(1, static_cast<int>(std::ceil(quota / period)));
}

class CpuDevice : public Device {
 public:
  explicit CpuDevice(const CpuOptions& options)
      : name_(options.name),
        kernels_(choose_kernels(options.target)),
        team_({.threads = options.threads > 0 ? options.threads : usable_cores(),
               .name = options.name,
               .timeout = options.timeout,
               .on_stuck = options.on_stuck}) {
    team_.run([this](int) { probe_arithmetic(kernels_, name_); });
  }

  std::string name() const override { return name_; }
  std::unique_ptr<Executable> load(const program::Program& program, const LoadOptions& options) override {
    return std::make_unique<CpuExecutable>(program, options, kernels_, team_);
  }

 private:
  const std::string name_;
  const Kernels& kernels_;
  ThreadTeam team_;
};

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = sched_getaffinity(0, sizeof(set), &set) == 0;
  const int cores = known ? CPU_COUNT(&set) : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(cores, 1, cores_of_quota());
}

std::unique_ptr<Device> make_cpu_device(const CpuOptions& options) {
  return std::make_unique<CpuDevice>(options);
}

}  // namespace lockstep::device::cpu
