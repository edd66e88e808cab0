#include "api/devices.h"

#include "base/error.h"
#include "device/cpu/cpu_device.h"
#include "plan/device_list.h"

namespace lockstep {
inline namespace api {
namespace {

constexpr int kMostThreads = 1024;

}  // namespace

std::unique_ptr<run::Crew> make_crew(const std::vector<std::string>& names, int threads) {
  if (threads < 0 || threads > kMostThreads)
    throw Error(Fault::usage, "threads: expected 1 to {}, or 0 for every core, found {}", kMostThreads,
                threads);
  const int devices = static_cast<int>(names.size());
  const int each = device::cpu::threads_of_each(devices, threads);
  return std::make_unique<run::Crew>(
      device::cpu::make_cpu_devices({.names = names, .threads = each}),
      run::Crew::Options{.share_cores = device::cpu::share_cores(devices, each)});
}

std::unique_ptr<run::Crew> make_crew(std::string_view list, int threads) {
  return make_crew(plan::parse_device_list(list), threads);
}

}  // namespace api
}  // namespace lockstep
