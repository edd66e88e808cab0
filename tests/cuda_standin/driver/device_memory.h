// The memory of one device: a range of addresses that nothing on the host is mapped at, with its bytes
// elsewhere. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "exec/machine.h"

namespace standin {

class DeviceMemory {
 public:
  DeviceMemory(int device, std::uint64_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  enum class Use { data, constant };
  // Throws Problem(out_of_memory). The bytes are a pattern that shows when it is used: a NaN.
  std::uint64_t allocate(std::uint64_t bytes, Use use = Use::data);
  // Throws Problem(invalid_value) if no allocation begins there.
  void free(std::uint64_t address);

  bool owns(std::uint64_t address) const { return address >= base_ && address - base_ < bytes_; }
  // Throws Problem(illegal_address).
  Window find(std::uint64_t address, std::uint64_t bytes, Access access) const;
  std::uint64_t free_bytes() const;
  std::uint64_t total_bytes() const { return bytes_; }

 private:
  struct Allocation {
    std::uint64_t bytes = 0;
    bool live = true;
    Use use = Use::data;
  };
  std::string describe(std::uint64_t offset) const;
  std::uint64_t find_gap(std::uint64_t bytes, std::uint64_t from) const;
  void forget_freed(std::uint64_t begin, std::uint64_t end);

  const int device_;
  const std::uint64_t bytes_;
  std::uint64_t base_ = 0;         // of the reserved addresses
  std::byte* bytes_of_ = nullptr;  // where the bytes are
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Allocation> allocations_;  // by offset; freed ones stay until their place is needed
  std::uint64_t next_ = 0;
  std::uint64_t used_ = 0;
};

}  // namespace standin
