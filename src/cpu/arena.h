// The memory of one program on a CPU device: where each buffer lies, as its plan says
// (program/memory_plan.h). Activations, masks and labels lie in a workspace (workspace.h) and have one or
// more slots, a slot holding one pack, unless they are kept from segment to segment: then every pack of the
// device has a place of its own. Partial sums belong to a thread and are a small stack (arithmetic/tree.h).
// All else is shared by the threads.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "arithmetic/tree.h"
#include "base/aligned_buffer.h"
#include "cpu/kernels.h"
#include "program/memory_plan.h"
#include "program/program.h"

namespace lockstep::cpu {

// Buffers that have no memory of their own.
struct ArenaLinks {
  std::map<program::BufferId, program::BufferId> canonical;  // prepared parameters that are the parameter
  std::map<program::BufferId, float*> borrowed;              // parameters that lie in another arena
};

class Arena {
 public:
  // Once, before anything else.
  void allocate(const program::Program& program, const program::MemoryPlan& plan, const ArenaLinks& links);

  // An arena is a handle: its functions are const, and their callers may write to the memory.

  // Makes room for the inboxes and the statistics of a further program and for stacks of `stack` partial
  // sums.
  void enlarge(const program::Program& program, int stack);

  // Shared: parameters, gradients, states, inboxes, statistics.
  float* shared(program::BufferId id) const { return at(id).floats; }

  // Shared, perhaps the parameter itself, or in a workspace.
  float* prepared(program::BufferId id, std::byte* workspace) const {
    return at(id).floats != nullptr ? at(id).floats : activation(id, workspace, 0);
  }

  // In a workspace.
  float* activation(program::BufferId id, std::byte* workspace, int slot) const {
    return reinterpret_cast<float*>(workspace + offset(at(id), slot));
  }
  std::uint8_t* bytes(program::BufferId id, std::byte* workspace, int slot) const {
    return reinterpret_cast<std::uint8_t*>(workspace + offset(at(id), slot));
  }
  // Kept: the place of a pack, which counts from the device's first.
  bool kept(program::BufferId id) const { return at(id).kept; }
  std::byte* kept_pack(program::BufferId id, int pack) const {
    return at(id).kept_memory.data() + static_cast<std::size_t>(pack) * at(id).stride;
  }

  // Bytes that this arena has allocated; workspaces are not part of it.
  std::size_t allocated() const { return allocated_; }

  std::int64_t* counts(program::BufferId id) const { return at(id).counts; }
  std::int64_t* thread_counts(program::BufferId id, int thread) const;
  float* partial(program::BufferId id, int thread, int level) const;

  // Where the sum of the next pack goes, for the thread's `step` of its schedule.
  JoinTarget join_target(program::BufferId id, int thread, const arithmetic::JoinStep& step) const;

  int slots(program::BufferId id) const { return at(id).slots; }

 private:
  struct Location {
    std::size_t stride = 0;  // from one slot (in bytes), level or thread (in elements) to the next
    std::size_t first = 0;   // in the workspace, in bytes
    int slots = 1;
    bool kept = false;
    mutable AlignedBuffer<std::byte> kept_memory;
    AlignedBuffer<float> float_memory;
    AlignedBuffer<std::int64_t> count_memory;
    float* floats = nullptr;
    std::int64_t* counts = nullptr;
  };
  const Location& at(program::BufferId id) const { return locations_[static_cast<std::size_t>(id)]; }
  static std::size_t offset(const Location& location, int slot) {
    return location.first + static_cast<std::size_t>(slot) * location.stride;
  }
  // Replaces `memory` and counts it.
  template <class T>
  void give(AlignedBuffer<T>& memory, std::size_t bytes) {
    allocated_ -= memory.size() * sizeof(T);
    memory = AlignedBuffer<T>(bytes / sizeof(T));
    allocated_ += memory.size() * sizeof(T);
  }

  std::vector<Location> locations_;
  std::size_t allocated_ = 0;  // bytes
  int threads_ = 1, stack_ = 1;
};

}  // namespace lockstep::cpu
