#include "devices.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "arithmetic/pack.h"
#include "base/error.h"
#include "cpu/cores.h"
#include "device/device_list.h"
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

// Names the option in what a parser refuses.
template <class Parse>
auto named(std::string_view option, Parse parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw Error(error.fault(), "{}: {}", option, error.what());
  }
}

// Bytes; LOCKSTEP_MEMORY counts in MB.
std::size_t memory_limit() {
  constexpr const char* kName = "LOCKSTEP_MEMORY";
  constexpr WholeRange kMegabytes{1, 1'000'000'000};
  const std::string text = environment_variable(kName);
  if (text.empty()) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(whole_number(kName, text, kMegabytes)) * 1'000'000;
}

device::DevicesHere here(Devices& devices) {
  return {.gpus = [&devices] { return devices.inventory().gpus(); },
          .refusal = [&devices](const std::string& gpu) { return devices.inventory().refusal(gpu); },
          .on_choice = [](const std::string& line) { std::cerr << line << '\n'; }};
}

}  // namespace

Devices::Devices() : on_stuck_(end_stuck_process) {}

CLI::Option* Devices::add_probe(CLI::App& parser) {
  return parser
      .add_option_function<std::string>(
          "--probe",
          [this](const std::string& text) {
            const std::string kind = known_name("--probe", text, std::vector<std::string>{"usual", "full"});
            set_probe(kind == "full" ? inventory::ProbeKind::full : inventory::ProbeKind::usual);
          },
          "What a GPU has to prove first: usual, thousands of cases, once (default); full, millions, again")
      ->type_name("KIND");
}

std::vector<std::string> Devices::list(std::string_view option, std::string_view text) {
  std::vector<std::string> names =
      named(option, [&] { return device::parse_device_list(text, here(*this)); });
  std::cerr << cpu_number_note(names, cpu::usable_cores());
  return names;
}

std::vector<std::vector<std::string>> Devices::settings(std::string_view option, std::string_view text) {
  std::vector<std::vector<std::string>> settings =
      named(option, [&] { return device::parse_device_settings(text, here(*this)); });
  for (const std::vector<std::string>& names : settings)
    std::cerr << cpu_number_note(names, cpu::usable_cores());
  return settings;
}

inventory::Inventory& Devices::inventory() {
  if (!inventory_) {
    inventory_ = std::make_unique<inventory::Inventory>(
        inventory::InventoryOptions{.cache = cache_directory(),
                                    .cuda_library = environment_variable("LOCKSTEP_CUDA_LIBRARY"),
                                    .nvrtc_library = environment_variable("LOCKSTEP_NVRTC_LIBRARY"),
                                    .probe = probe_,
                                    .on_wait = [](const std::string& line) { std::cerr << line << '\n'; },
                                    .on_stuck = on_stuck_});
  }
  return *inventory_;
}

std::unique_ptr<run::Crew> Devices::make_crew(const CrewOptions& options) {
  const auto timeout =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.timeout));
  inventory::MadeDevices made =
      inventory().make(options.devices, {.threads = options.threads,
                                         .target = environment_variable("LOCKSTEP_TARGET"),
                                         .memory = memory_limit(),
                                         .bind = options.bind,
                                         .timeout = timeout,
                                         .on_stuck = on_stuck_});
  for (std::unique_ptr<device::Device>& device : made.devices) {
    if (options.drill && options.drill->device == device->name())
      device = device::make_faulty(std::move(device), options.drill->drill, hang);
  }
  return std::make_unique<run::Crew>(
      std::move(made.devices),
      run::Crew::Options{.timeout = timeout, .on_stuck = on_stuck_, .share_cores = made.share_cores});
}

int default_threads(const std::vector<std::string>& devices) {
  return device::all_cpu(devices)
             ? std::min(cpu::threads_of_each(static_cast<int>(devices.size()), 0), kThreads.most)
             : 0;
}

std::string cpu_number_note(const std::vector<std::string>& devices, int cores) {
  int cpus = 0, highest = -1;
  for (const std::string& name : devices) {
    if (device::kind_of(name) != "cpu") continue;
    ++cpus;
    highest = std::max(highest, device::index_of(name));
  }
  if (highest < cores || highest < cpus) return {};
  return fmt::format(
      "cpu:{}: the number is only a name and chooses no core; the CPU devices share the {} core{} that this "
      "process may use\n",
      highest, cores, cores == 1 ? "" : "s");
}

std::string idle_devices(const run::Crew& crew, int batch, const std::vector<double>& shares) {
  if (shares.empty() && !crew.alike()) return {};  // they are yet to be measured
  const std::vector<std::string> devices = crew.names();
  const int packs = arithmetic::pack_count(batch), count = static_cast<int>(devices.size());
  const std::vector<arithmetic::PackRange> ranges = plan::deal_packs({0, packs}, count, shares);
  std::vector<std::string> idle;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (ranges[i].size() == 0) idle.push_back(devices[i]);
  }
  if (idle.empty()) return {};
  const std::string who = idle.size() == 1 ? idle[0] + " has"
                          : shares.empty() ? idle.front() + " to " + idle.back() + " have"
                                           : fmt::format("{} have", fmt::join(idle, ", "));
  return fmt::format("{} nothing to compute: a minibatch of {} is {} pack{} for {} devices\n", who, batch,
                     packs, packs == 1 ? "" : "s", count);
}

}  // namespace lockstep::app
