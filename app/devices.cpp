#include "devices.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "arithmetic/pack.h"
#include "base/error.h"
#include "device/cpu/cpu_device.h"
#include "environment.h"
#include "output.h"
#include "plan/deal.h"

namespace lockstep::app {
namespace {

[[noreturn]] void end_stuck_process(const std::string& who) {
  print_error(who + "; ending, what was saved stays");
  std::_Exit(static_cast<int>(Fault::device));
}

// Until the watch ends the process.
[[noreturn]] void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

int default_threads(std::size_t devices) {
  return std::min(device::cpu::threads_of_each(static_cast<int>(devices), 0), kThreads.most);
}

std::unique_ptr<run::Crew> make_crew(const CrewOptions& options) {
  const auto count = static_cast<int>(options.devices.size());
  const int threads = device::cpu::threads_of_each(count, options.threads);
  const auto timeout =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.timeout));
  std::vector<std::unique_ptr<device::Device>> devices =
      device::cpu::make_cpu_devices({.names = options.devices,
                                     .threads = threads,
                                     .target = environment_variable("LOCKSTEP_TARGET"),
                                     .bind = options.bind,
                                     .timeout = timeout,
                                     .on_stuck = end_stuck_process});
  for (std::unique_ptr<device::Device>& device : devices) {
    if (options.drill && options.drill->device == device->name())
      device = device::make_faulty(std::move(device), options.drill->drill, hang);
  }
  return std::make_unique<run::Crew>(
      std::move(devices), run::Crew::Options{.timeout = timeout,
                                             .on_stuck = end_stuck_process,
                                             .share_cores = device::cpu::share_cores(count, threads)});
}

std::string idle_devices(const std::vector<std::string>& devices, int batch) {
  const int packs = arithmetic::pack_count(batch), count = static_cast<int>(devices.size());
  const int busy = plan::busy_holders(packs, count);
  if (busy == count) return {};
  const std::string& first = devices[static_cast<std::size_t>(busy)];
  const std::string who = busy + 1 == count ? first + " has" : first + " to " + devices.back() + " have";
  return fmt::format("{} nothing to compute: a minibatch of {} is {} pack{} for {} devices\n", who, batch,
                     packs, packs == 1 ? "" : "s", count);
}

}  // namespace lockstep::app
