#include "api/devices.h"

#include "base/error.h"
#include "device/inventory.h"
#include "plan/device_list.h"

namespace lockstep {
inline namespace api {
namespace {

constexpr int kMostThreads = 1024;

std::unique_ptr<run::Crew> make_crew(device::Inventory& inventory, const std::vector<std::string>& names,
                                     int threads) {
  if (threads < 0 || threads > kMostThreads)
    throw Error(Fault::usage, "threads: expected 1 to {}, or 0 for every core, found {}", kMostThreads,
                threads);
  device::MadeDevices made = inventory.make(names, {.threads = threads});
  return std::make_unique<run::Crew>(std::move(made.devices),
                                     run::Crew::Options{.share_cores = made.share_cores});
}

}  // namespace

std::unique_ptr<run::Crew> make_crew(const std::vector<std::string>& names, int threads) {
  device::Inventory inventory;
  return make_crew(inventory, names, threads);
}

std::unique_ptr<run::Crew> make_crew(std::string_view list, int threads) {
  device::Inventory inventory;
  const plan::DevicesHere here{.gpus = [&] { return inventory.gpus(); },
                               .refusal = [&](const std::string& gpu) { return inventory.refusal(gpu); }};
  return make_crew(inventory, plan::parse_device_list(list, here), threads);
}

}  // namespace api
}  // namespace lockstep
