#include "cpu/cpu_device.h"

#include <algorithm>

#include <fmt/format.h>

#include "cpu/cpu_executable.h"
#include "cpu/probe.h"
#include "program/memory_text.h"

namespace lockstep::cpu {
namespace {

class CpuDevice : public device::Device {
 public:
  explicit CpuDevice(const CpuOptions& options)
      : name_(options.name),
        kernels_(choose_kernels(options.target)),
        memory_(options.memory),
        cores_(options.cores),
        first_core_(options.first_core),
        shares_cores_(options.shares_cores),
        team_({.threads = options.threads > 0 ? options.threads : usable_cores(),
               .name = options.name,
               .spin = !options.shares_cores,
               .on_start = [this](int thread) { begin_thread(thread); },
               .timeout = options.timeout,
               .on_stuck = options.on_stuck}),
        workspaces_(options.workspaces ? options.workspaces : std::make_shared<WorkspacePool>(team_.size())),
        own_workspaces_(options.workspaces ? options.own_workspaces : team_.size()) {
    team_.run([this](int) { probe_arithmetic(kernels_, name_); });
  }

  std::string name() const override { return name_; }
  std::string model() const override { return std::string(kernels_.name); }
  std::unique_ptr<device::Executable> load(const program::Program& program,
                                           const device::LoadOptions& options) override {
    auto executable =
        std::make_unique<CpuExecutable>(program, options, kernels_, team_, *workspaces_, sharing());
    executable->allocate();
    return executable;
  }
  program::MemoryPlan plan(const program::Program& program, const device::LoadOptions& options) override {
    return CpuExecutable(program, options, kernels_, team_, *workspaces_, sharing()).memory_plan();
  }
  device::FreeMemory free_memory() const override {
    const std::size_t bytes = std::min(memory_, cpu::free_memory());
    return {.of = "the host",
            .bytes = bytes,
            .text = fmt::format("the host has {} of memory free", program::megabytes(bytes)),
            .remedy = "fewer devices or threads"};
  }
  std::unique_ptr<device::ThreadPlace> adopt_thread() override {
    return cores_ ? cores_->bind_for_now(first_core_) : nullptr;
  }
  // CPU devices share the host's memory, so no copy is needed.
  bool reaches(const device::Device&) const override { return false; }
  void copy(std::span<const std::byte> from, std::span<std::byte> to) override {
    std::ranges::copy(from, to.begin());
  }

 private:
  Sharing sharing() const { return {.cores = shares_cores_, .workspaces = own_workspaces_}; }
  void begin_thread(int thread) {
    if (cores_ && !shares_cores_) cores_->try_to_bind(first_core_ + thread);
  }

  const std::string name_;
  const Kernels& kernels_;
  const std::size_t memory_;
  const std::shared_ptr<const Cores> cores_;
  const int first_core_;
  const bool shares_cores_;
  ThreadTeam team_;
  const std::shared_ptr<WorkspacePool> workspaces_;
  const int own_workspaces_;
};

}  // namespace

std::unique_ptr<device::Device> make_cpu_device(const CpuOptions& options) {
  return std::make_unique<CpuDevice>(options);
}

std::vector<std::unique_ptr<device::Device>> make_cpu_devices(const CpuTeamOptions& options) {
  const int cores = usable_cores(), count = static_cast<int>(options.names.size());
  const int threads = threads_of_each(count + options.others, options.threads);
  const bool enough = !share_cores(count + options.others, threads);
  CpuOptions each{.threads = threads,
                  .target = options.target,
                  .timeout = options.timeout,
                  .on_stuck = options.on_stuck,
                  .memory = options.memory,
                  .shares_cores = !enough};
  // One device leaves its threads to the system: other programs may be using the first cores.
  if (options.bind && count > 1) each.cores = std::make_shared<const Cores>();
  if (each.cores && each.cores->count() < std::min(cores, count * threads)) each.cores = nullptr;
  const int workspaces = std::min(cores, count * threads);
  each.workspaces = std::make_shared<WorkspacePool>(workspaces, enough ? nullptr : each.cores);
  std::vector<std::unique_ptr<device::Device>> devices;
  for (int device = 0; device < count; ++device) {
    each.name = options.names[static_cast<std::size_t>(device)];
    each.own_workspaces = workspaces / count + (device < workspaces % count ? 1 : 0);
    each.first_core = enough ? device * threads : device % cores;
    devices.push_back(make_cpu_device(each));
  }
  return devices;
}

}  // namespace lockstep::cpu
