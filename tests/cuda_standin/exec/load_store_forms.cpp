// Loads and stores. If all 32 lanes of a warp stay inside one allocation, it is checked once for all of them.
#include <algorithm>
#include <cstring>

#include "exec/memory_access.h"
#include "exec/memory_forms.h"

namespace standin {
namespace {

using ptx::Space;

// Whether all addresses are aligned and inside the operation's window.
template <std::uint64_t bytes>
bool all_inside(const Window& window, const std::uint64_t* addresses, std::uint64_t offset) {
  // Distances from the window's begin: one that lies before it wraps to a large number.
  const std::uint64_t base = window.begin - offset;
  std::uint64_t farthest = 0;
  std::uint64_t low_bits = 0;
#pragma omp simd reduction(max : farthest) reduction(| : low_bits)
  for (int i = 0; i < kLanes; ++i) {
    const std::uint64_t distance = addresses[i] - base;
    farthest = std::max(farthest, distance);
    low_bits |= addresses[i] + offset;
  }
  const std::uint64_t size = window.end - window.begin;
  return window.begin < window.end && size >= bytes && farthest <= size - bytes && low_bits % bytes == 0;
}

// What is to be added to a device address, without its offset, to get the host's: a number, for it is no
// place itself.
std::uint64_t host_base(const Window& window, std::uint64_t offset) {
  return reinterpret_cast<std::uint64_t>(window.host) - window.begin + offset;
}

std::byte* host_place(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

template <Space space>
constexpr bool kInDeviceMemory = space == Space::global || space == Space::constant || space == Space::none;

template <Space space, class A, class T, int count>
struct Memory {
  static constexpr std::uint64_t kBytes = sizeof(T) * count;

  static void load_lane(Warp& warp, const Op& op, int lane, const std::byte* from) {
    T elements[count];
    std::memcpy(elements, from, kBytes);
    for (int j = 0; j < count; ++j) warp.lanes<T>(op.d[j])[lane] = elements[j];
  }

  static void load(Warp& warp, const Op& op) {
    const A* const addresses = warp.lanes<const A>(op.s[0]);
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((warp.active >> lane & 1u) == 0) continue;
      const std::uint64_t address = addresses[lane] + op.immediate;
      load_lane(warp, op, lane, locate<space>(warp, op, address, kBytes, lane, Access::read));
    }
  }

  static void load_all(Warp& warp, const Op& op) {
    if constexpr (kInDeviceMemory<space>) {
      const Window window = warp.machine->window(op);
      const std::uint64_t* const addresses = warp.lanes<const std::uint64_t>(op.s[0]);
      if (all_inside<kBytes>(window, addresses, op.immediate)) {
        const std::uint64_t base = host_base(window, op.immediate);
        for (int lane = 0; lane < kLanes; ++lane)
          load_lane(warp, op, lane, host_place(base + addresses[lane]));
        return;
      }
    }
    if constexpr (space == Space::shared && kBytes >= 4 && sizeof(T) >= 4) {
      std::uint32_t offsets[kLanes];
      SharedMemory& shared = warp.machine->shared();
      if (shared.read_all<kBytes / 4>(warp.lanes<const A>(op.s[0]), op.immediate, warp.thread, offsets)) {
        const std::byte* const base = shared.data();
        for (int lane = 0; lane < kLanes; ++lane) load_lane(warp, op, lane, base + offsets[lane]);
        return;
      }
    }
    load(warp, op);
  }

  static void store_lane(Warp& warp, const Op& op, int lane, std::byte* to) {
    T elements[count];
    for (int j = 0; j < count; ++j) elements[j] = warp.lanes<const T>(op.d[j])[lane];
    std::memcpy(to, elements, kBytes);
  }

  static void store(Warp& warp, const Op& op) {
    const A* const addresses = warp.lanes<const A>(op.s[0]);
    for (const std::uint8_t lane : warp.order) {
      if ((warp.active >> lane & 1u) == 0) continue;
      const std::uint64_t address = addresses[lane] + op.immediate;
      store_lane(warp, op, lane, locate<space>(warp, op, address, kBytes, lane, Access::write));
    }
  }

  static void store_all(Warp& warp, const Op& op) {
    if constexpr (kInDeviceMemory<space>) {
      const Window window = warp.machine->window(op);
      const std::uint64_t* const addresses = warp.lanes<const std::uint64_t>(op.s[0]);
      if (all_inside<kBytes>(window, addresses, op.immediate)) {
        const std::uint64_t base = host_base(window, op.immediate);
        for (const std::uint8_t lane : warp.order)
          store_lane(warp, op, lane, host_place(base + addresses[lane]));
        return;
      }
    }
    if constexpr (space == Space::shared && kBytes >= 4 && sizeof(T) >= 4) {
      std::uint32_t offsets[kLanes];
      SharedMemory& shared = warp.machine->shared();
      if (shared.write_all<kBytes / 4>(warp.lanes<const A>(op.s[0]), op.immediate, warp.thread, offsets)) {
        std::byte* const base = shared.data();
        for (int lane = 0; lane < kLanes; ++lane) store_lane(warp, op, lane, base + offsets[lane]);
        return;
      }
    }
    store(warp, op);
  }

  static Form load_form() { return {load_all, load, {kBits<T>, kBits<A>}}; }
  static Form store_form() { return {store_all, store, {kBits<T>, kBits<A>}}; }
};

enum class Direction { load, store };

template <Space space, class A, class T>
Form with_count(Direction direction, int count) {
  const bool load = direction == Direction::load;
  if (count == 4 && sizeof(T) <= 4) {
    return load ? Memory<space, A, T, 4>::load_form() : Memory<space, A, T, 4>::store_form();
  }
  if (count == 2) return load ? Memory<space, A, T, 2>::load_form() : Memory<space, A, T, 2>::store_form();
  if (count == 1) return load ? Memory<space, A, T, 1>::load_form() : Memory<space, A, T, 1>::store_form();
  return {};
}

template <Space space, class A>
Form with_type(Direction direction, int bits, int count) {
  switch (bits) {
    case 8:
      return with_count<space, A, std::uint8_t>(direction, count);
    case 16:
      return with_count<space, A, std::uint16_t>(direction, count);
    case 32:
      return with_count<space, A, std::uint32_t>(direction, count);
    default:
      return with_count<space, A, std::uint64_t>(direction, count);
  }
}

Form with_space(Direction direction, const MemoryShape& shape) {
  if (shape.address_bits == 32) {
    return shape.space == Space::shared
               ? with_type<Space::shared, std::uint32_t>(direction, shape.bits, shape.count)
               : Form{};
  }
  switch (shape.space) {
    case Space::shared:
      return with_type<Space::shared, std::uint64_t>(direction, shape.bits, shape.count);
    case Space::local:
      return with_type<Space::local, std::uint64_t>(direction, shape.bits, shape.count);
    case Space::param:
      return with_type<Space::param, std::uint64_t>(direction, shape.bits, shape.count);
    case Space::none:
      return with_type<Space::none, std::uint64_t>(direction, shape.bits, shape.count);
    default:
      return with_type<Space::global, std::uint64_t>(direction, shape.bits, shape.count);
  }
}

}  // namespace

Form load_form(const MemoryShape& shape) { return with_space(Direction::load, shape); }
Form store_form(const MemoryShape& shape) { return with_space(Direction::store, shape); }

}  // namespace standin
