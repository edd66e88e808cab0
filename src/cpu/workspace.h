// Memory that a thread needs while it works on packs, and not after: activations, masks and scratch.
//
// It belongs to a core, not to a device. Where devices have to share cores, they take turns: there are as
// many workspaces as cores, a thread takes one for a group of packs, and the next device finds the memory
// still in the core's cache (else 16 devices on 2 cores would load 16 sets of activations into it).
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
  // As many as threads that may work at once. With `cores`, workspace i belongs to core i, and the
  // thread that takes it is bound there: else the system keeps a woken thread on the core of its waker.
  explicit WorkspacePool(int workspaces, std::shared_ptr<const Cores> cores = nullptr);

  // A workspace, for as long as this lives.
  class Lease {
   public:
    explicit Lease(WorkspacePool& pool) : pool_(pool), workspace_(pool.take()) {}
    ~Lease() { pool_.put_back(workspace_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    std::byte* memory() const { return pool_.memory_of(workspace_); }

    // Lets a waiting thread go first. Afterwards memory() may be another workspace.
    void give_way();

   private:
    WorkspacePool& pool_;
    int workspace_;
  };

  // Makes every workspace at least this large. Requires: none is taken.
  void reserve(std::size_t bytes);
  std::size_t bytes();  // of each

 private:
  struct Waiter {
    Condition called;
    int workspace = -1;
  };

  int take();
  int wait_for_workspace();
  void put_back(int workspace);
  std::byte* memory_of(int workspace);

  const std::shared_ptr<const Cores> cores_;

  Mutex mutex_;
  std::vector<AlignedBuffer<std::byte>> workspaces_ GUARDED_BY(mutex_);
  bool reserved_ GUARDED_BY(mutex_) = false;
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;  // of each
  std::vector<int> free_ GUARDED_BY(mutex_);  // last in, first out: the warm one
  // First come, first served. The waiting thread and the thread that wakes it share a Waiter.
  std::deque<std::shared_ptr<Waiter>> queue_ GUARDED_BY(mutex_);
  std::atomic<int> waiting_{0};  // the queue's length, cheap to look at
};

}  // namespace lockstep::cpu
