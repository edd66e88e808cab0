// Memory that a thread needs while it works on packs, and not after: activations, masks and scratch.
//
// It belongs to a core, not to a device. Where devices have to share cores, they take turns: there are as
// many workspaces as cores, a thread takes one for a group of packs, and the next device finds the memory
// still in the core's cache (16 devices on 2 cores would otherwise drag 16 sets of activations through it).
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/mutex.h"
#include "cpu/cores.h"

namespace lockstep::cpu {

class WorkspacePool {
 public:
  // As many as threads that may work at once. With `cores`, workspace i belongs to core i, and who takes it
  // goes there: left alone, the system keeps those that were woken on the core of the one that woke them.
  explicit WorkspacePool(int workspaces, std::shared_ptr<const Cores> cores = nullptr);

  // A workspace, for as long as this lives.
  class Lease {
   public:
    explicit Lease(WorkspacePool& pool) : pool_(pool), place_(pool.take()) {}
    ~Lease() { pool_.put_back(place_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    std::byte* memory() const { return pool_.memory_of(place_); }

    // Lets somebody who waits go first. The memory may be another afterwards.
    void give_way();

   private:
    WorkspacePool& pool_;
    int place_;
  };

  // Makes every workspace at least this large. Requires: none is taken.
  void reserve(std::size_t bytes);

 private:
  struct Waiter {
    Condition called;
    int place = -1;
  };

  int take();
  int wait_for_place();
  void put_back(int place);
  std::byte* memory_of(int place);

  const std::shared_ptr<const Cores> cores_;

  Mutex mutex_;
  std::vector<AlignedBuffer<std::byte>> workspaces_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;  // of each
  std::vector<int> free_ GUARDED_BY(mutex_);  // last in, first out: the warm one
  // First come, first served. Shared by who waits and who calls it: the call comes after the lock.
  std::deque<std::shared_ptr<Waiter>> queue_ GUARDED_BY(mutex_);
  std::atomic<int> waiting_{0};  // the queue's length, cheap to look at
};

}  // namespace lockstep::cpu
