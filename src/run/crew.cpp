#include "run/crew.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "device/device_list.h"
#include "program/print.h"
#include "transport/threads/thread_transport.h"

namespace lockstep::run {
namespace {

// The clock goes on while the process is stopped: a timeout is ten slices of no progress, and a stop costs
// one.
constexpr int kSlices = 10;

constexpr const char* kOutside = "outside of training";

std::vector<device::Device*> pointers_to(const std::vector<std::unique_ptr<device::Device>>& devices) {
  std::vector<device::Device*> pointers;
  pointers.reserve(devices.size());
  for (const auto& device : devices) pointers.push_back(device.get());
  return pointers;
}

std::vector<std::unique_ptr<transport::Transport>> make_transports(
    const std::vector<device::Device*>& devices, const Crew::Options& options) {
  const auto hub = std::make_shared<transport::ThreadHub>(static_cast<int>(devices.size()));
  std::vector<std::unique_ptr<transport::Transport>> transports;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const int rank = options.first_rank + static_cast<int>(d);
    transport::RankOptions each{
        .spin = !options.share_cores,
        .copy = [device = devices[d]](std::span<const std::byte> from, std::span<std::byte> to) {
          device->copy(from, to);
        }};
    transports.push_back(options.connect ? options.connect(rank, std::move(each))
                                         : hub->join(rank, std::move(each)));
  }
  return transports;
}

}  // namespace

Crew::Crew(std::vector<std::unique_ptr<device::Device>> devices, Options options)
    : Crew(pointers_to(devices), std::move(options)) {
  owned_ = std::move(devices);
}

Crew::Crew(std::vector<device::Device*> devices) : Crew(std::move(devices), Options{}) {}

Crew::Crew(std::vector<device::Device*> devices, Options options)
    : options_(std::move(options)),
      devices_(std::move(devices)),
      transports_(make_transports(devices_, options_)),
      activities_(devices_.size()),
      places_(devices_.size()) {
  check(!devices_.empty(), "a crew without devices");
  workers_ = std::make_unique<ThreadTeam>(ThreadTeam::Options{
      .threads = size(), .name = "devices", .spin = !options_.share_cores, .timeout = options_.timeout});
  if (size() > 1) {
    workers_->run([this](int d) {
      if (d > 0) places_[static_cast<std::size_t>(d)] = device(d).adopt_thread();
    });
  }
  try {
    watch_ = std::thread([this] { watch(); });
  } catch (const std::system_error& error) {
    throw Error(Fault::device,
                "no thread could be started to watch the devices ({}); ask for fewer with --threads",
                error.code().message());
  }
}

Crew::~Crew() {
  {
    const Lock lock(mutex_);
    leaving_ = true;
    leave_.notify_all();
  }
  watch_.join();
  workers_->run([this](int d) { places_[static_cast<std::size_t>(d)].reset(); });  // each on its own thread
}

std::vector<std::string> Crew::names() const {
  std::vector<std::string> names;
  names.reserve(devices_.size());
  for (const device::Device* device : devices_) names.push_back(device->name());
  return names;
}

std::string Crew::name_of_rank(int rank) const {
  const int local = rank - first_rank();
  if (local >= 0 && local < size()) return devices_[static_cast<std::size_t>(local)]->name();
  return fmt::format("rank {}", rank);
}

std::vector<bool> Crew::direct(int device) const {
  std::vector<bool> direct(static_cast<std::size_t>(ranks()), false);
  const device::Device& self = *devices_[static_cast<std::size_t>(device)];
  for (int other = 0; other < size(); ++other) {
    const device::Device& peer = *devices_[static_cast<std::size_t>(other)];
    const int rank = first_rank() + other;
    direct[static_cast<std::size_t>(rank)] = other != device && self.reaches(peer) && peer.reaches(self);
  }
  return direct;
}

bool Crew::alike() const {
  const device::Device& first = *devices_.front();
  return std::ranges::all_of(devices_, [&](const device::Device* device) {
    return device::kind_of(device->name()) == device::kind_of(first.name()) &&
           device->model() == first.model();
  });
}

void Crew::run(const std::function<void(int)>& work) {
  {
    // The caller drives the first device; its thread goes back where it was.
    const std::unique_ptr<device::ThreadPlace> place = device(0).adopt_thread();
    workers_->run([&](int device) { work_on(device, work); });
  }
  std::exception_ptr error;
  {
    const Lock lock(mutex_);
    if (!stuck_.empty()) throw Error(Fault::device, "{}", stuck_);
    error = first_error_;
  }
  if (error) std::rethrow_exception(error);
}

void Crew::work_on(int device, const std::function<void(int)>& work) {
  Activity& activity = activities_[static_cast<std::size_t>(device)];
  activity.working = true;
  std::exception_ptr error;
  try {
    work(device);
  } catch (const Error& e) {
    error = std::make_exception_ptr(Error(e.fault(), "{}", placed(device, e.what())));
  } catch (const std::bad_alloc&) {
    error = std::current_exception();
  } catch (const std::exception& e) {  // no failure of the world's: those are Errors
    error = std::make_exception_ptr(Error(Fault::ours, "{}", placed(device, e.what())));
  } catch (...) {
    error = std::current_exception();
  }
  finish_work(activity, error);
  if (error) transport(device).abort();
}

// The watch holds the mutex while it looks. So it sees a worker at work together with what the work is about,
// or neither, and never what belonged to work that is over.
void Crew::finish_work(Activity& activity, const std::exception_ptr& error) {
  const Lock lock(mutex_);
  if (!first_error_) first_error_ = error;
  activity.working = false;
  activity.waiting = false;
  activity.instruction = nullptr;
  activity.exchanging = nullptr;
  activity.program = nullptr;
}

// An error's text with device, step and instruction in front; what drivers say begins with the device.
std::string Crew::placed(int device, std::string_view text) const {
  const std::string name = devices_[static_cast<std::size_t>(device)]->name();
  const Activity& activity = activities_[static_cast<std::size_t>(device)];
  const bool begun = activity.instruction != nullptr || activity.exchanging != nullptr;
  if (!begun && text.starts_with(name + " ")) return std::string(text);
  if (text.starts_with(name + ": " + kOutside)) return std::string(text);  // of a crew inside this one
  if (text.starts_with(name + ": ")) text.remove_prefix(name.size() + 2);
  return fmt::format("{}: {}: {}", name, doing(device), text);
}

std::string Crew::doing(int device) const {
  const Activity& activity = activities_[static_cast<std::size_t>(device)];
  const std::int64_t step = activity.step;
  std::string text = step > 0 ? fmt::format("step {}", step) : kOutside;
  const auto* const program = activity.program.load();
  if (const auto* exchanging = activity.exchanging.load(); exchanging != nullptr && program != nullptr) {
    text += ", " + program::to_text(*exchanging, *program);
    std::vector<std::string> from;
    for (const int peer : transports_[static_cast<std::size_t>(device)]->missing())
      from.push_back(name_of_rank(peer));
    if (!from.empty()) text += fmt::format(", waiting for {}", fmt::join(from, ", "));
  } else if (const auto* instruction = activity.instruction.load()) {
    text += ", " + program::to_text(*instruction);
  }
  return text;
}

// Looks at all workers every slice. A worker that waits for another is a victim; those that do not move by
// themselves are named first.
void Crew::watch() {
  std::vector<std::uint64_t> seen(devices_.size(), 0);
  std::vector<int> still(devices_.size(), 0);
  Lock lock(mutex_);
  while (!leaving_) {
    leave_.wait_for(lock, options_.timeout / kSlices);
    for (std::size_t d = 0; d < seen.size(); ++d) {
      const std::uint64_t moves = activities_[d].moves;
      still[d] = activities_[d].working && moves == seen[d] ? still[d] + 1 : 0;
      seen[d] = moves;
    }
    const std::string text = leaving_ ? "" : stuck_workers(still);
    if (text.empty()) continue;
    stuck_ = text;
    transports_[0]->abort();
    if (options_.on_stuck) options_.on_stuck(text);
  }
}

// One line about those that have not moved for a timeout and those who wait for them, or nothing. Who waits
// for a worker that still computes is not stuck, and a slow device is not either; where all wait, it is for
// each other.
std::string Crew::stuck_workers(std::vector<int>& still) const {
  std::string culprits, victims;
  bool all_wait = true;
  for (std::size_t d = 0; d < still.size(); ++d) {
    if (!activities_[d].working) continue;
    const bool waiting = activities_[d].waiting;
    all_wait = all_wait && waiting && still[d] >= kSlices;
    if (!waiting && still[d] < kSlices) continue;
    std::string& text = waiting ? victims : culprits;
    text +=
        fmt::format("{}{} ({})", text.empty() ? "" : "; ", devices_[d]->name(), doing(static_cast<int>(d)));
  }
  if (culprits.empty() && (victims.empty() || !all_wait)) return {};
  std::ranges::fill(still, 0);  // the next report is a timeout away
  const double seconds = std::chrono::duration<double>(options_.timeout).count();
  return fmt::format("no progress for {} s: {}{}{}", seconds, culprits,
                     culprits.empty() || victims.empty() ? "" : "; held up by it: ", victims);
}

}  // namespace lockstep::run
