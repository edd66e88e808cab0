// Work on memory: launches, copies and fills, checked when they are asked for and again when they run.
#include "driver/system.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace standin {
namespace {

// Device memory as kernels of one device see it.
class DeviceView : public AddressSpace {
 public:
  DeviceView(const System& system, const Device& device) : system_(system), device_(device) {}

  Window find(std::uint64_t address, std::uint64_t bytes, Access access) const override {
    Device* const owner = system_.owner(address);
    if (owner == nullptr) {
      throw Problem(Code::illegal_address,
                    "out of bounds: {} of {} bytes at address {:#x}, which is no device memory",
                    access == Access::read ? "read" : "write", bytes, address);
    }
    if (owner != &device_) {
      const std::lock_guard lock(system_.scheduler.mutex());
      if (owner->lost) throw Problem(Code::device_unavailable, "device {} is lost", owner->index);
      if (!device_.peers.contains(owner->index)) {
        throw Problem(Code::illegal_address, "device {} touches memory of device {} without peer access",
                      device_.index, owner->index);
      }
    }
    return owner->memory->find(address, bytes, access);
  }

 private:
  const System& system_;
  const Device& device_;
};

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15 + b + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  return z ^ (z >> 31);
}

std::mutex process_mutex;
std::shared_ptr<System> process_system;
std::string process_error;

}  // namespace

System::System(const Configuration& configuration)
    : configuration_(configuration), scheduler(configuration.seed, configuration.shuffled) {
  for (int i = 0; i < configuration.devices; ++i) {
    auto device = std::make_unique<Device>();
    device->index = i;
    device->system = this;
    device->memory = std::make_unique<DeviceMemory>(i, configuration.memory);
    device->seed = mix(configuration.seed, static_cast<std::uint64_t>(i));
    device->default_stream = std::make_shared<Stream>();
    device->default_stream->device = device.get();
    device->streams.push_back(device->default_stream);
    devices_.push_back(std::move(device));
  }
}

System::~System() {  // tasks hold modules, which hold device memory
  for (const std::unique_ptr<Device>& device : devices_) {
    for (const std::shared_ptr<Stream>& stream : device->streams) stream->queue.clear();
  }
}

Device& System::device(int index) {
  if (index < 0 || index >= device_count()) {
    throw Problem(Code::invalid_device, "device {} of {}", index, device_count());
  }
  return *devices_[static_cast<std::size_t>(index)];
}

Device* System::owner(std::uint64_t address) const {
  for (const std::unique_ptr<Device>& device : devices_) {
    if (device->memory->owns(address)) return device.get();
  }
  return nullptr;
}

void System::launch(const std::shared_ptr<Stream>& stream, const Function& function, Launch launch) {
  Device& device = *stream->device;
  std::uint64_t count = 0;
  bool lost_now = false;
  {
    const std::lock_guard lock(scheduler.mutex());
    count = ++device.launches;
    const auto lose = configuration_.lose.find(device.index);
    lost_now = lose != configuration_.lose.end() && !device.lost && count >= lose->second;
    device.lost = device.lost || lost_now;
  }
  if (lost_now) {
    scheduler.fail(device, Code::device_unavailable);
    throw Problem(Code::launch_failed, "device {} was lost at launch {}", device.index, count);
  }
  launch.seed = mix(device.seed, count);
  launch.program = function.program;
  launch.shuffled = configuration_.shuffled;
  launch.budget = configuration_.budget;
  scheduler.enqueue(stream,
                    {{}, [this, &device, module = function.module, launch = std::move(launch)]() mutable {
                       const DeviceView view(*this, device);
                       launch.memory = &view;
                       instructions += run(launch);
                     }});
}

std::byte* System::place(std::uint64_t address, std::uint64_t bytes, Access access) const {
  Device* const at = owner(address);
  if (at == nullptr) return reinterpret_cast<std::byte*>(address);
  {
    const std::lock_guard lock(scheduler.mutex());
    if (at->lost) throw Problem(Code::device_unavailable, "device {} is lost", at->index);
  }
  const Window window = at->memory->find(address, bytes, access);
  return window.host + (address - window.begin);
}

void System::check_range(std::uint64_t address, std::uint64_t bytes, Access access) const {
  if (bytes == 0) return;
  try {
    place(address, bytes, access);
  } catch (const Problem& problem) {
    if (problem.code() != Code::illegal_address) throw;
    throw Problem(Code::invalid_value, "{}", problem.what());
  }
  if (owner(address) != nullptr) return;
  const std::lock_guard lock(host_mutex_);
  const auto after = pinned_bytes_.upper_bound(address);
  if (after == pinned_bytes_.begin()) return;
  const auto& [begin, size] = *std::prev(after);
  if (address - begin < size && bytes > size - (address - begin)) {
    throw Problem(Code::invalid_value, "a copy of {} bytes reaches beyond a host allocation of {}", bytes,
                  size);
  }
}

Point System::copy(const std::shared_ptr<Stream>& stream, std::uint64_t to, std::uint64_t from,
                   std::uint64_t bytes) {
  check_range(to, bytes, Access::write);
  check_range(from, bytes, Access::read);
  if (bytes == 0) return scheduler.enqueue(stream, {});
  // Pageable host memory is read before the call returns; pinned memory when the copy's turn comes.
  std::shared_ptr<std::vector<std::byte>> staged;
  if (owner(from) == nullptr && !is_pinned(from)) {
    const auto* const bytes_there = reinterpret_cast<const std::byte*>(from);
    staged = std::make_shared<std::vector<std::byte>>(bytes_there, bytes_there + bytes);
  }
  const Point point = scheduler.enqueue(
      stream, {{}, [this, to, from, bytes, staged] {
                 const std::byte* const source = staged ? staged->data() : place(from, bytes, Access::read);
                 std::memmove(place(to, bytes, Access::write), source, bytes);
               }});
  // A copy to pageable host memory is complete when the call returns.
  if (owner(to) == nullptr && !is_pinned(to)) scheduler.wait(point);
  return point;
}

void System::fill(const std::shared_ptr<Stream>& stream, std::uint64_t to, std::uint32_t value,
                  std::uint64_t count) {
  const std::uint64_t bytes = sizeof value * count;
  if (owner(to) == nullptr)
    throw Problem(Code::invalid_value, "a fill at {:#x}, which is no device memory", to);
  if (to % sizeof value != 0) throw Problem(Code::invalid_value, "a misaligned fill at {:#x}", to);
  check_range(to, bytes, Access::write);
  scheduler.enqueue(stream, {{}, [this, to, bytes, value] {
                               if (bytes == 0) return;
                               std::byte* const begin = place(to, bytes, Access::write);
                               for (std::uint64_t at = 0; at < bytes; at += sizeof value)
                                 std::memcpy(begin + at, &value, sizeof value);
                             }});
}

void* System::allocate_host(std::uint64_t bytes) {
  if (bytes == 0) throw Problem(Code::invalid_value, "a host allocation of 0 bytes");
  auto memory = std::make_unique<std::byte[]>(bytes);
  void* const begin = memory.get();
  const std::lock_guard lock(host_mutex_);
  pinned_bytes_[reinterpret_cast<std::uint64_t>(begin)] = bytes;
  pinned_[reinterpret_cast<std::uint64_t>(begin)] = std::move(memory);
  return begin;
}

void System::free_host(void* begin) {
  for (const std::unique_ptr<Device>& device : devices_) {
    try {  // copies that still need the memory go first
      scheduler.wait_for_device(*device);
    } catch (const Problem&) {
      continue;  // a failed device has no copies left
    }
  }
  const std::lock_guard lock(host_mutex_);
  if (pinned_.erase(reinterpret_cast<std::uint64_t>(begin)) == 0) {
    throw Problem(Code::invalid_value, "cuMemFreeHost of memory that was not allocated");
  }
  pinned_bytes_.erase(reinterpret_cast<std::uint64_t>(begin));
}

bool System::is_pinned(std::uint64_t address) const {
  const std::lock_guard lock(host_mutex_);
  const auto after = pinned_bytes_.upper_bound(address);
  return after != pinned_bytes_.begin() && address - std::prev(after)->first < std::prev(after)->second;
}

std::shared_ptr<System> current_system() {
  const std::lock_guard lock(process_mutex);
  if (!process_system) {
    const char* const text = std::getenv("CUDA_STANDIN");
    process_system = std::make_shared<System>(parse_configuration(text == nullptr ? "" : text));
  }
  return process_system;
}

void replace_system(const Configuration& configuration) {
  auto system = std::make_shared<System>(configuration);
  const std::lock_guard lock(process_mutex);
  process_system = std::move(system);
  process_error.clear();
}

void record_error(const std::string& text) {
  if (text.empty()) return;
  const std::lock_guard lock(process_mutex);
  process_error = text;
}

Code record_exception() noexcept {
  try {
    throw;
  } catch (const Problem& problem) {
    record_error(problem.what());
    return problem.code();
  } catch (const std::bad_alloc&) {
    record_error("the host has no memory left");
    return Code::out_of_memory;
  } catch (const std::exception& error) {
    record_error(error.what());
    return Code::unknown;
  } catch (...) {
    record_error("something was thrown that is no std::exception");
    return Code::unknown;
  }
}

std::string last_error() {
  const std::lock_guard lock(process_mutex);
  return process_error;
}

}  // namespace standin
