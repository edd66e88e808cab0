// The memory of one program on a CPU device: who has which buffer where.
// Activations, masks and labels lie in a workspace (workspace.h) and have one or more slots, a slot holding
// one pack. Partial sums belong to a thread and are a small stack (arithmetic/tree.h). All else is shared by
// the threads.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "arithmetic/tree.h"
#include "base/aligned_buffer.h"
#include "cpu/kernels.h"
#include "program/program.h"

namespace lockstep::cpu {

struct ArenaSizes {
  int threads = 1;
  std::vector<int> slots;             // by buffer: packs that are kept at once in a workspace
  std::vector<std::size_t> prepared;  // by buffer: floats of a prepared parameter
  std::map<program::BufferId, program::BufferId> canonical;  // prepared parameters that are the parameter
  int stack = 1;                                             // deepest stack of partial sums
  bool passing_prepared = false;                             // prepared parameters lie in the workspace, too
};

class Arena {
 public:
  Arena(const program::Program& program, const ArenaSizes& sizes);

  // An arena is a handle: who has it may write through it.

  // Shared: parameters, gradients, states.
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
  std::size_t workspace_bytes() const { return workspace_bytes_; }

  std::int64_t* tally(program::BufferId id, int thread) const;
  float* partial(program::BufferId id, int thread, int level) const;

  // Where the sum of the next pack goes, for the thread's `step` of its schedule.
  JoinTarget join_target(program::BufferId id, int thread, const arithmetic::JoinStep& step) const;

  int slots(program::BufferId id) const { return at(id).slots; }

 private:
  struct Place {
    std::size_t stride = 0;  // from one slot (in bytes), level or thread (in elements) to the next
    std::size_t first = 0;   // in the workspace, in bytes
    int slots = 1;
    AlignedBuffer<float> float_memory;
    AlignedBuffer<std::int64_t> count_memory;
    float* floats = nullptr;
    std::int64_t* counts = nullptr;
  };
  const Place& at(program::BufferId id) const { return places_[static_cast<std::size_t>(id)]; }
  static std::size_t offset(const Place& place, int slot) {
    return place.first + static_cast<std::size_t>(slot) * place.stride;
  }
  void put_into_workspace(Place& place, std::size_t bytes_of_a_slot);

  std::vector<Place> places_;
  std::size_t workspace_bytes_ = 0;
  int stack_;
};

}  // namespace lockstep::cpu
