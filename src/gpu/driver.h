// What a GPU's driver does for a device: memory, copies, launches, and order between them. OpenCL and CUDA
// are two of them; all else about GPUs is written once, on top of this.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gpu/arguments.h"
#include "gpu/style.h"

namespace lockstep::gpu {

// Memory of the device.
class Memory {
 public:
  virtual ~Memory() = default;
};

// Memory of the host that the device copies from and to by itself.
class HostMemory {
 public:
  virtual ~HostMemory() = default;
  virtual std::span<std::byte> bytes() = 0;

  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes().data()), bytes().size() / sizeof(T)};
  }
};

// A point in a queue. Everything before it is done once it has happened.
class Event {
 public:
  virtual ~Event() = default;
};

// Each does what it is given in order; both work at the same time.
enum class Queue { compute, exchange };
inline constexpr int kQueues = 2;

using Argument =
    std::variant<const Memory*, int, float, WindowShape, TileShape, OuterShape, ProductShape, NormShape>;

// What a device is, before anything runs on it.
struct Facts {
  std::string name;      // opencl:0
  std::string model;     // as the driver calls it
  std::string place;     // where the device is plugged in or listed; does not depend on its name
  std::string driver;    // name and version
  std::string compiler;  // of its kernels, with what is known of its version
  std::string build;     // how its kernels are compiled, where the driver's text does not say
  std::size_t memory = 0, largest_allocation = 0;  // bytes
  int units = 0;                                   // that compute at the same time
  bool gpu = false;  // or a CPU, or something else, that speaks the same language
};

// What was asked of a driver, for tests and benches.
struct Counters {
  std::int64_t launches = 0, waits = 0;
};

// Something the device did, on the host's clock.
struct Span {
  Queue queue = Queue::compute;
  std::string name = {};
  std::chrono::steady_clock::time_point start = {}, end = {};
};

// One device. Used by one thread at a time. A call that fails throws Error(device) with the device's name,
// the call and the driver's name of the error.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual const Facts& facts() const = 0;
  virtual const Style& style() const = 0;

  // Bytes that are free, as far as the driver knows; other programs use a device, too.
  virtual std::size_t free_memory() const = 0;
  virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
  // A part of memory that must outlive it; `offset` is a multiple of kPartAlignment.
  virtual std::unique_ptr<Memory> part(const Memory& memory, std::size_t offset, std::size_t bytes) = 0;
  virtual std::unique_ptr<HostMemory> allocate_host(std::size_t bytes) = 0;

  // These three only put something into a queue; the host's bytes must stay until it has happened.
  virtual void write(Queue queue, const Memory& to, std::size_t offset, std::span<const std::byte> from) = 0;
  virtual void read(Queue queue, const Memory& from, std::size_t offset, std::span<std::byte> to) = 0;
  virtual void launch(Queue queue, std::string_view kernel, std::span<const Argument> arguments,
                      std::size_t work_items) = 0;

  virtual std::unique_ptr<Event> record(Queue queue) = 0;
  // What comes next in `queue` starts after the event.
  virtual void after(Queue queue, const Event& event) = 0;
  // Makes the device begin with what is in the queue.
  virtual void flush(Queue queue) = 0;
  // The host waits.
  virtual void wait(const Event& event) = 0;

  // Does this device copy straight from the other's memory? Then address() of both is understood by copy().
  virtual bool reaches(const Driver& other) const = 0;
  virtual std::byte* address(const Memory& memory) const = 0;
  // In the exchange's queue, and waits for it. Either side may be any device's memory, or the host's.
  virtual void copy(std::span<const std::byte> from, std::span<std::byte> to) = 0;

  virtual Counters counters() const = 0;

  // From now on what the device does is timed by the device itself.
  virtual void start_trace() = 0;
  // The name of what is put into queues from now on.
  virtual void name_spans(std::string name) = 0;
  // What the device has done since the last call. Waits until all queues are empty.
  virtual std::vector<Span> take_spans() = 0;
};

inline constexpr std::size_t kPartAlignment = 512;  // bytes; OpenCL's largest minimum

}  // namespace lockstep::gpu
