// Where an address leads: every access of a lane is checked here before it touches a byte.
#pragma once

#include <cstdint>

#include "exec/machine.h"
#include "ptx/text.h"

namespace standin {

// The place of `bytes` bytes at device address `address`; `window` remembers where the last access went.
inline std::byte* locate_global(Warp& warp, Window& window, std::uint64_t address, std::uint64_t bytes,
                                Access access) {
  if (address % bytes != 0) {
    throw Problem(Code::misaligned_address, "misaligned access: {} bytes at address {:#x}", bytes, address);
  }
  if (address < window.begin || address >= window.end || bytes > window.end - address) {
    window = warp.machine->launch().memory->find(address, bytes, access);
  }
  return window.host + (address - window.begin);
}

inline std::byte* locate_local(Warp& warp, std::uint64_t address, std::uint64_t bytes, int lane) {
  const std::uint64_t size = warp.machine->local_bytes();
  if (address % bytes != 0) {
    throw Problem(Code::misaligned_address, "misaligned access to local memory: {} bytes at offset {}", bytes,
                  address);
  }
  if (address >= size || bytes > size - address) {
    throw Problem(Code::illegal_address,
                  "out of bounds of local memory: {} bytes at offset {}, a thread has {} bytes", bytes,
                  address, size);
  }
  return warp.local + static_cast<std::uint64_t>(lane) * size + address;
}

inline std::byte* locate_param(Warp& warp, std::uint64_t address, std::uint64_t bytes, Access access) {
  const std::uint64_t size = warp.machine->launch().parameters.size();
  if (access != Access::read) throw Problem(Code::illegal_address, "a write to the kernel's parameters");
  if (address % bytes != 0) {
    throw Problem(Code::misaligned_address, "misaligned access to a parameter: {} bytes at offset {}", bytes,
                  address);
  }
  if (address >= size || bytes > size - address) {
    throw Problem(Code::illegal_address, "out of bounds of the parameters: {} bytes at offset {} of {}",
                  bytes, address, size);
  }
  return warp.machine->parameters() + address;
}

inline std::byte* locate_shared(Warp& warp, std::uint64_t address, std::uint64_t bytes, int lane,
                                Access access) {
  SharedMemory& shared = warp.machine->shared();
  const std::uint32_t thread = warp.thread[lane];
  switch (access) {
    case Access::read:
      return shared.read(address, bytes, thread);
    case Access::write:
      return shared.write(address, bytes, thread);
    default:
      return shared.update(address, bytes, thread);
  }
}

template <ptx::Space space>
std::byte* locate(Warp& warp, const Op& op, std::uint64_t address, std::uint64_t bytes, int lane,
                  Access access) {
  using ptx::Space;
  if constexpr (space == Space::shared) {
    return locate_shared(warp, address, bytes, lane, access);
  } else if constexpr (space == Space::local) {
    return locate_local(warp, address, bytes, lane);
  } else if constexpr (space == Space::param) {
    return locate_param(warp, address, bytes, access);
  } else {
    if constexpr (space == Space::none) {  // a generic address
      switch (address >> 56) {
        case kSharedWindow >> 56:
          return locate_shared(warp, address - kSharedWindow, bytes, lane, access);
        case kLocalWindow >> 56:
          return locate_local(warp, address - kLocalWindow, bytes, lane);
        case kParamWindow >> 56:
          return locate_param(warp, address - kParamWindow, bytes, access);
        default:
          break;
      }
    }
    return locate_global(warp, warp.machine->window(op), address, bytes, access);
  }
}

}  // namespace standin
