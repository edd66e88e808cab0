// Moves bytes between a fixed set of ranks. It adds nothing up: devices join what they receive.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace lockstep::transport {

// One message. Exactly one of `out` and `in` is not empty.
struct Op {
  int peer = 0;
  std::span<const std::byte> out = {};  // to send
  std::span<std::byte> in = {};         // to be filled
  bool direct = false;                  // both lie in memory of devices; equal on both sides
};
inline Op send(int to, std::span<const std::byte> bytes, bool direct = false) {
  return {to, bytes, {}, direct};
}
inline Op receive(int from, std::span<std::byte> bytes, bool direct = false) {
  return {from, {}, bytes, direct};
}

using Ticket = std::uint64_t;

// How a rank copies what was sent to it straight from another device's memory.
using DirectCopy = std::function<void(std::span<const std::byte> from, std::span<std::byte> to)>;

struct RankOptions {
  bool spin = true;  // look a while before going to sleep: right where every rank has a core of its own
  DirectCopy copy = nullptr;
};

// What one rank has of a transport. Used by one thread at a time, but for abort().
class Transport {
 public:
  virtual ~Transport() = default;

  // Begins all `ops` as one group; sends and receives of a pair of ranks match in posting order.
  // Requires: the memory stays as it is (send) or untouched (receive) until wait() says that it is done.
  virtual Ticket start(std::span<const Op> ops) = 0;

  // One of `tickets`, as soon as all its ops are done; it is not asked for again. Nothing if `timeout` passed
  // first. Throws Error(device) once a rank called abort(). Zero looks without waiting.
  virtual std::optional<Ticket> wait_for_any(std::span<const Ticket> tickets,
                                             std::chrono::nanoseconds timeout) = 0;
  bool wait(Ticket ticket, std::chrono::nanoseconds timeout) {
    return wait_for_any({&ticket, 1}, timeout).has_value();
  }

  // Makes every wait of every rank throw, now and later. Any thread may call it.
  virtual void abort() = 0;

  // Ranks this one is waiting for at this moment. Any thread may ask.
  virtual std::vector<int> missing() const = 0;
};

}  // namespace lockstep::transport
