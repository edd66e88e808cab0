#include "api/devices.h"

#include <cmath>
#include <iostream>

#include "base/error.h"
#include "device/device_list.h"
#include "inventory/inventory.h"

namespace lockstep {
inline namespace api {
namespace {

constexpr int kMostThreads = 1024;
constexpr double kLeastTimeout = 1e-6, kMostTimeout = 1e6;  // seconds

// The one thing that the library prints by itself.
void tell_standard_error(const std::string& who) {
  std::cerr << "lockstep: " + who + "; the call returns when the device comes back\n" << std::flush;
}

inventory::Inventory inventory_with(const Patience& patience) {
  return inventory::Inventory({.timeout = patience.timeout, .on_stuck = patience.on_stuck});
}

std::unique_ptr<run::Crew> make_crew(inventory::Inventory& inventory, const std::vector<std::string>& names,
                                     int threads, const Patience& patience) {
  if (threads < 0 || threads > kMostThreads)
    throw Error(Fault::usage, "threads: expected 1 to {}, or 0 for every core, found {}", kMostThreads,
                threads);
  inventory::MadeDevices made =
      inventory.make(names, {.threads = threads, .timeout = patience.timeout, .on_stuck = patience.on_stuck});
  return std::make_unique<run::Crew>(
      std::move(made.devices),
      run::Crew::Options{
          .timeout = patience.timeout, .on_stuck = patience.on_stuck, .share_cores = made.share_cores});
}

}  // namespace

void expect_timeout(double timeout) {
  if (std::isnan(timeout) || timeout < kLeastTimeout || timeout > kMostTimeout)
    throw Error(Fault::usage, "timeout: expected {} to {} seconds, found {}", kLeastTimeout, kMostTimeout,
                timeout);
}

Patience leaving(Caller& caller, double timeout) {
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(timeout)),
          [&caller](const std::string& who) { caller.leave(who); }};
}

Patience with_listener(Patience patience) {
  if (!patience.on_stuck) patience.on_stuck = tell_standard_error;
  return patience;
}

std::unique_ptr<run::Crew> make_crew(const std::vector<std::string>& names, int threads,
                                     const Patience& patience) {
  const Patience heard = with_listener(patience);
  inventory::Inventory inventory = inventory_with(heard);
  return make_crew(inventory, names, threads, heard);
}

std::unique_ptr<run::Crew> make_crew(std::string_view list, int threads, const Patience& patience) {
  const Patience heard = with_listener(patience);
  inventory::Inventory inventory = inventory_with(heard);
  const device::DevicesHere here{.gpus = [&] { return inventory.gpus(); },
                                 .refusal = [&](const std::string& gpu) { return inventory.refusal(gpu); }};
  return make_crew(inventory, device::parse_device_list(list, here), threads, heard);
}

}  // namespace api
}  // namespace lockstep
