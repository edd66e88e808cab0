// The whole driver: devices with their memory, contexts, streams, modules, and what is known of host memory.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/configuration.h"
#include "driver/device_memory.h"
#include "driver/scheduler.h"
#include "driver/stream.h"

namespace standin {

class System;

// A context is a name for a device here.
struct Context {
  Device* device = nullptr;
};

struct Device {
  int index = 0;
  System* system = nullptr;
  std::unique_ptr<DeviceMemory> memory;
  std::shared_ptr<Stream> default_stream;
  // Under the scheduler's mutex:
  std::vector<std::shared_ptr<Stream>> streams;  // with the default one
  bool busy = false;
  Code error = Code::success;
  bool lost = false;
  std::uint64_t launches = 0;
  std::uint64_t seed = 0;
  std::set<int> peers;  // whose memory it reaches
  std::shared_ptr<Context> primary;
};

struct LoadedModule {
  Device* device = nullptr;
  std::map<std::string, std::uint64_t> addresses;
  std::map<std::string, std::uint64_t> sizes;
  std::map<std::string, Program> programs;
  ~LoadedModule();
};

struct Function {
  std::shared_ptr<LoadedModule> module;
  const Program* program = nullptr;
  std::atomic<std::uint64_t> dynamic_shared_limit{0};
};

// Reads the PTX, places its variables and decodes its kernels. Throws Problem.
std::shared_ptr<LoadedModule> load_module(Device& device, std::string_view text);

// Live handles of one type, so that a stale one is recognised.
template <class T>
class Handles {
 public:
  T* add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    T* const handle = object.get();
    live_[handle] = std::move(object);
    return handle;
  }
  std::shared_ptr<T> get(const void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(handle);
    if (found == live_.end())
      throw Problem(Code::invalid_handle, "a handle that does not exist or not any more");
    return found->second;
  }
  std::shared_ptr<T> remove(const void* handle) {
    std::shared_ptr<T> object = get(handle);
    const std::lock_guard lock(mutex_);
    live_.erase(handle);
    return object;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<T>> live_;
};

class System {
  const Configuration configuration_;
  std::vector<std::unique_ptr<Device>> devices_;  // first: everything below refers to them
  mutable std::mutex host_mutex_;
  std::map<std::uint64_t, std::unique_ptr<std::byte[]>> pinned_;
  std::map<std::uint64_t, std::uint64_t> pinned_bytes_;

 public:
  explicit System(const Configuration& configuration);
  ~System();
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  const Configuration& configuration() const { return configuration_; }
  Device& device(int index);
  int device_count() const { return static_cast<int>(devices_.size()); }
  // The device that owns an address, or none.
  Device* owner(std::uint64_t address) const;

  void launch(const std::shared_ptr<Stream>& stream, const Function& function, Launch launch);
  Point copy(const std::shared_ptr<Stream>& stream, std::uint64_t to, std::uint64_t from,
             std::uint64_t bytes);
  void fill(const std::shared_ptr<Stream>& stream, std::uint64_t to, std::uint32_t value,
            std::uint64_t count);
  // Throws if [address, address + bytes) is neither inside one allocation of a device nor host memory.
  void check_range(std::uint64_t address, std::uint64_t bytes, Access access) const;

  void* allocate_host(std::uint64_t bytes);
  void free_host(void* place);

  Scheduler scheduler;
  Handles<Context> contexts;
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<LoadedModule> modules;
  Handles<Function> functions;
  std::atomic<std::uint64_t> instructions{0};

 private:
  // Whether an address is in memory that cuMemAllocHost gave.
  bool is_pinned(std::uint64_t address) const;
  std::byte* place(std::uint64_t address, std::uint64_t bytes, Access access) const;
};

// The system of this process, made at the first use from the environment variable CUDA_STANDIN.
std::shared_ptr<System> current_system();
void replace_system(const Configuration& configuration);

// The text of the last thing that went wrong anywhere in the process.
void record_error(const std::string& text);
// Records the exception being handled and gives its code. Call it inside a catch.
Code record_exception() noexcept;
std::string last_error();

}  // namespace standin
