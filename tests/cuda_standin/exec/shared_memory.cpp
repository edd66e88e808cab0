// Shared memory's epochs and the texts of its errors.
#include "exec/shared_memory.h"

#include <algorithm>

namespace standin {
namespace {

constexpr std::uint32_t kRoomForABlock = 1u << 20;  // epochs left at a block's begin

}  // namespace

SharedMemory::SharedMemory(std::uint64_t bytes, bool byte_by_byte)
    : data_(bytes),
      shift_(byte_by_byte ? 0 : 2),
      writers_((bytes >> shift_) + 1),
      readers_(writers_.size()) {}

void SharedMemory::begin_block() {
  if (epoch_ > kLastEpoch - kRoomForABlock) {
    std::fill(writers_.begin(), writers_.end(), 0u);
    std::fill(readers_.begin(), readers_.end(), 0u);
    epoch_ = 0;
  }
  block_epoch_ = ++epoch_;
}

void SharedMemory::barrier() {
  if (++epoch_ >= kLastEpoch) {
    throw Problem(Code::launch_failed, "a block passed more barriers than the race detector counts");
  }
}

std::byte* SharedMemory::update(std::uint64_t offset, std::uint64_t bytes, std::uint32_t thread) {
  check_range(offset, bytes);
  const std::uint32_t mine = epoch_ << kThreadBits | thread;
  const std::uint32_t atomic = epoch_ << kThreadBits | kAtomic;
  for (std::uint64_t g = offset >> shift_; g <= (offset + bytes - 1) >> shift_; ++g) {
    if (writers_[g] < block_epoch_ << kThreadBits) throw_read(offset, g, thread);
    const auto by_another = [&](std::uint32_t who) {
      return who >> kThreadBits == epoch_ && who != mine && who != atomic;
    };
    if (by_another(writers_[g]) || by_another(readers_[g])) throw_write(offset, g, thread);
    writers_[g] = atomic;
  }
  return data_.data() + offset;
}

void SharedMemory::throw_range(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset % bytes != 0) {
    throw Problem(Code::misaligned_address, "misaligned access to shared memory: {} bytes at offset {}",
                  bytes, offset);
  }
  throw Problem(Code::illegal_address,
                "out of bounds of shared memory: {} bytes at offset {}, the block has {} bytes", bytes,
                offset, data_.size());
}

void SharedMemory::throw_read(std::uint64_t offset, std::uint64_t granule, std::uint32_t thread) const {
  const std::uint32_t writer = writers_[granule];
  if (writer < block_epoch_ << kThreadBits) {
    throw Problem(
        Code::launch_failed,
        "uninitialised shared memory: thread {} reads offset {}, which no thread of its block has written",
        thread, offset);
  }
  const std::uint32_t who = writer & kMany;
  throw Problem(Code::launch_failed,
                "race on shared memory: thread {} reads offset {}, which {} wrote since the last barrier; a "
                "barrier is missing",
                thread, offset,
                who == kAtomic ? std::string("an atomic operation") : fmt::format("thread {}", who));
}

void SharedMemory::throw_write(std::uint64_t offset, std::uint64_t granule, std::uint32_t thread) const {
  const std::uint32_t mine = epoch_ << kThreadBits | thread;
  const bool written = writers_[granule] >> kThreadBits == epoch_ && writers_[granule] != mine;
  const std::uint32_t who = (written ? writers_[granule] : readers_[granule]) & kMany;
  throw Problem(
      Code::launch_failed,
      "race on shared memory: thread {} writes offset {}, which {} {} since the last barrier; a barrier "
      "is missing",
      thread, offset,
      who == kMany     ? std::string("several threads")
      : who == kAtomic ? std::string("an atomic operation")
                       : fmt::format("thread {}", who),
      written ? "wrote" : "read");
}

}  // namespace standin
