// Shared memory of one block with a race detector.
//
// For every granule (a word, or a byte if the kernel has narrower accesses) it keeps who wrote it last and
// who read it, each with the epoch: the count of barriers so far. In one epoch a granule may be read by many
// or written by one. Epochs go on across blocks, so that what an earlier block wrote counts as never written.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/program.h"
#include "problem.h"

namespace standin {

class SharedMemory {
 public:
  SharedMemory(std::uint64_t bytes, bool byte_by_byte);

  void begin_block();
  void barrier();

  // Each gives the place of `bytes` bytes at `offset`, or throws. Threads are numbered within the block.
  std::byte* read(std::uint64_t offset, std::uint64_t bytes, std::uint32_t thread) {
    check_range(offset, bytes);
    const std::uint32_t mine = epoch_ << kThreadBits | thread;
    for (std::uint64_t g = offset >> shift_; g <= (offset + bytes - 1) >> shift_; ++g) {
      const std::uint32_t writer = writers_[g];
      if (writer >= epoch_ << kThreadBits ? writer != mine : writer < block_epoch_ << kThreadBits) {
        throw_read(offset, g, thread);
      }
      const std::uint32_t reader = readers_[g];
      readers_[g] = reader >> kThreadBits == epoch_ && reader != mine ? mine | kMany : mine;
    }
    return data_.data() + offset;
  }

  std::byte* write(std::uint64_t offset, std::uint64_t bytes, std::uint32_t thread) {
    check_range(offset, bytes);
    const std::uint32_t mine = epoch_ << kThreadBits | thread;
    for (std::uint64_t g = offset >> shift_; g <= (offset + bytes - 1) >> shift_; ++g) {
      const bool written = writers_[g] >> kThreadBits == epoch_ && writers_[g] != mine;
      const bool read = readers_[g] >> kThreadBits == epoch_ && readers_[g] != mine;
      if (written || read) throw_write(offset, g, thread);
      writers_[g] = mine;
    }
    return data_.data() + offset;
  }

  // The same for 32 lanes at once, `words` words each, if words are the granules: the places of the lanes'
  // bytes are written to `offsets`. False if any lane must not: then nothing is certain but that read() or
  // write() will throw.
  template <int words, class Address>
  bool read_all(const Address* addresses, std::uint64_t displacement, const std::uint32_t* threads,
                std::uint32_t* offsets) {
    if (!in_range<words>(addresses, displacement, offsets)) return false;
    std::uint32_t* const readers = readers_.data();
    const std::uint32_t* const writers = writers_.data();
    const std::uint32_t now = epoch_ << kThreadBits;
    const std::uint32_t block = block_epoch_ << kThreadBits;
    bool good = true;
    for (int i = 0; i < kLanes; ++i) {
      const std::uint32_t mine = now | threads[i];
      for (std::uint32_t g = offsets[i] / 4; g < offsets[i] / 4 + words; ++g) {
        const std::uint32_t writer = writers[g];
        const std::uint32_t reader = readers[g];
        good &= writer >= block && (writer < now || writer == mine);
        readers[g] = reader >= now && reader != mine ? now | kMany : mine;
      }
    }
    return good;
  }

  template <int words, class Address>
  bool write_all(const Address* addresses, std::uint64_t displacement, const std::uint32_t* threads,
                 std::uint32_t* offsets) {
    if (!in_range<words>(addresses, displacement, offsets)) return false;
    const std::uint32_t* const readers = readers_.data();
    std::uint32_t* const writers = writers_.data();
    const std::uint32_t now = epoch_ << kThreadBits;
    for (int i = 0; i < kLanes; ++i) {
      const std::uint32_t mine = now | threads[i];
      for (std::uint32_t g = offsets[i] / 4; g < offsets[i] / 4 + words; ++g) {
        if ((writers[g] >= now && writers[g] != mine) || (readers[g] >= now && readers[g] != mine))
          return false;
        writers[g] = mine;
      }
    }
    return true;
  }

  std::byte* data() { return data_.data(); }

  // Atomic operations of different threads do not race with one another.
  std::byte* update(std::uint64_t offset, std::uint64_t bytes, std::uint32_t thread);

 private:
  static constexpr std::uint32_t kThreadBits = 11;
  static constexpr std::uint32_t kMany = (1u << kThreadBits) - 1;
  static constexpr std::uint32_t kAtomic = kMany - 1;
  static constexpr std::uint32_t kLastEpoch = (1u << (32 - kThreadBits)) - 1;

  template <int words, class Address>
  bool in_range(const Address* addresses, std::uint64_t displacement, std::uint32_t* offsets) const {
    constexpr std::uint64_t bytes = 4 * words;
    if (shift_ != 2 || data_.size() < bytes) return false;
    const std::uint64_t last = data_.size() - bytes;
    std::uint32_t bad = 0;
#pragma omp simd reduction(| : bad)
    for (int i = 0; i < kLanes; ++i) {
      const std::uint64_t at = addresses[i] + displacement;
      bad |= at > last ? 1u : 0u;
      bad |= static_cast<std::uint32_t>(at) % bytes;
      offsets[i] = static_cast<std::uint32_t>(at);
    }
    return bad == 0;
  }
  void check_range(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset >= data_.size() || bytes > data_.size() - offset || offset % bytes != 0) {
      throw_range(offset, bytes);
    }
  }
  [[noreturn]] void throw_range(std::uint64_t offset, std::uint64_t bytes) const;
  [[noreturn]] void throw_read(std::uint64_t offset, std::uint64_t granule, std::uint32_t thread) const;
  [[noreturn]] void throw_write(std::uint64_t offset, std::uint64_t granule, std::uint32_t thread) const;

  std::vector<std::byte> data_;
  std::uint32_t shift_;
  std::uint32_t epoch_ = 0;
  std::uint32_t block_epoch_ = 0;
  std::vector<std::uint32_t> writers_;  // epoch and thread
  std::vector<std::uint32_t> readers_;  // epoch and thread, or kMany
};

}  // namespace standin
