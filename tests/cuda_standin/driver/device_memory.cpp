// Allocations of one device.
#include "driver/device_memory.h"

#include <algorithm>

#include <sys/mman.h>

#include "problem.h"

namespace standin {
namespace {

constexpr std::uint64_t kAlign = 512;  // what cuMemAlloc gives at least, and the gap that catches overruns
constexpr std::uint32_t kUninitialised = 0xffc0dead;

std::uint64_t span_of(std::uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign + kAlign; }

std::byte* map(std::uint64_t bytes, int protection) {
  void* const place = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED)
    throw Problem(Code::out_of_memory, "the host gives no {} bytes of addresses", bytes);
  return static_cast<std::byte*>(place);
}

}  // namespace

DeviceMemory::DeviceMemory(int device, std::uint64_t bytes)
    : device_(device),
      bytes_(bytes),
      base_(reinterpret_cast<std::uint64_t>(map(bytes, PROT_NONE))),
      bytes_of_(map(bytes, PROT_READ | PROT_WRITE)) {}

DeviceMemory::~DeviceMemory() {
  munmap(reinterpret_cast<void*>(base_), bytes_);
  munmap(bytes_of_, bytes_);
}

// The first place from `from` on that no live allocation needs; bytes_ if there is none.
std::uint64_t DeviceMemory::find_gap(std::uint64_t bytes, std::uint64_t from) const {
  std::uint64_t candidate = from;
  for (const auto& [begin, allocation] : allocations_) {
    if (!allocation.live || begin + span_of(allocation.bytes) <= candidate) continue;
    if (begin >= candidate && begin - candidate >= span_of(bytes)) break;
    candidate = begin + span_of(allocation.bytes);
  }
  return candidate <= bytes_ && bytes_ - candidate >= span_of(bytes) ? candidate : bytes_;
}

void DeviceMemory::forget_freed(std::uint64_t begin, std::uint64_t end) {
  std::erase_if(allocations_, [&](const auto& entry) {
    return !entry.second.live && entry.first < end && entry.first + entry.second.bytes > begin;
  });
}

std::uint64_t DeviceMemory::allocate(std::uint64_t bytes, Use use) {
  if (bytes == 0) throw Problem(Code::invalid_value, "an allocation of 0 bytes");
  const std::lock_guard lock(mutex_);
  if (bytes > bytes_)
    throw Problem(Code::out_of_memory, "device {} has {} bytes, not {}", device_, bytes_, bytes);
  // Going round the whole memory before a place is used again shows uses after free.
  std::uint64_t offset = find_gap(bytes, next_);
  if (offset == bytes_) offset = find_gap(bytes, 0);
  if (offset == bytes_) {
    throw Problem(Code::out_of_memory, "device {} has no room for {} bytes: {} of {} are in use", device_,
                  bytes, used_, bytes_);
  }
  forget_freed(offset, offset + span_of(bytes));
  allocations_[offset] = {bytes, true, use};
  next_ = offset + span_of(bytes);
  used_ += span_of(bytes);
  auto* const words = reinterpret_cast<std::uint32_t*>(bytes_of_ + offset);
  std::fill(words, words + (bytes + 3) / 4, kUninitialised);
  return base_ + offset;
}

void DeviceMemory::free(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = owns(address) ? allocations_.find(address - base_) : allocations_.end();
  if (found == allocations_.end() || !found->second.live) {
    throw Problem(Code::invalid_value, "free of address {:#x}: {}", address,
                  found == allocations_.end() ? "no allocation begins there" : "it was freed before");
  }
  found->second.live = false;
  used_ -= span_of(found->second.bytes);
  const std::uint64_t page = 4096;
  const std::uint64_t begin = (found->first + page - 1) / page * page;
  const std::uint64_t end = (found->first + found->second.bytes) / page * page;
  if (end > begin) madvise(bytes_of_ + begin, end - begin, MADV_DONTNEED);
}

std::string DeviceMemory::describe(std::uint64_t offset) const {
  auto after = allocations_.upper_bound(offset);
  if (after == allocations_.begin()) return "no allocation is near";
  const auto& [begin, allocation] = *std::prev(after);
  if (!allocation.live && offset - begin < allocation.bytes) {
    return fmt::format("use after free: byte {} of a freed allocation of {} bytes", offset - begin,
                       allocation.bytes);
  }
  return fmt::format("byte {} of {} allocation of {} bytes", offset - begin,
                     allocation.live ? "an" : "a freed", allocation.bytes);
}

Window DeviceMemory::find(std::uint64_t address, std::uint64_t bytes, Access access) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t offset = address - base_;
  const auto after = allocations_.upper_bound(offset);
  if (after != allocations_.begin()) {
    const auto& [begin, allocation] = *std::prev(after);
    if (allocation.live && offset - begin < allocation.bytes &&
        bytes <= allocation.bytes - (offset - begin)) {
      if (access != Access::read && allocation.use == Use::constant) {
        throw Problem(Code::illegal_address, "a write to constant memory at {:#x}", address);
      }
      return {base_ + begin, base_ + begin + allocation.bytes, bytes_of_ + begin};
    }
  }
  throw Problem(Code::illegal_address, "out of bounds: {} of {} bytes at address {:#x} of device {}: {}",
                access == Access::read ? "read" : "write", bytes, address, device_, describe(offset));
}

std::uint64_t DeviceMemory::free_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_ - used_;
}

}  // namespace standin
