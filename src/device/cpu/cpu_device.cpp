#include "device/cpu/cpu_device.h"

#include <algorithm>

#include <sched.h>

#include "device/cpu/cpu_executable.h"

namespace lockstep::device::cpu {
namespace {

class CpuDevice : public Device {
 public:
  explicit CpuDevice(const CpuOptions& options)
      : name_(options.name),
        kernels_(choose_kernels(options.target)),
        team_({.threads = options.threads > 0 ? options.threads : usable_cores(),
               .name = options.name,
               .timeout = options.timeout,
               .on_stuck = options.on_stuck}) {}

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
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return 1;
}

std::unique_ptr<Device> make_cpu_device(const CpuOptions& options) {
  return std::make_unique<CpuDevice>(options);
}

}  // namespace lockstep::device::cpu
