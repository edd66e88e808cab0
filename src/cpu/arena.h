// The memory of one program on a CPU device: where each buffer lies.
// Activations, masks and labels lie in a workspace (workspace.h) and have one or more slots, a slot holding
// one pack, unless they are kept from segment to segment: then every pack of the device has a place of its
// own. Partial sums belong to a thread and are a small stack (arithmetic/tree.h). All else is shared by the
// threads.
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
  std::map<program::BufferId, float*> borrowed;              // parameters that lie in another arena
  std::vector<bool> kept;         // by buffer: activations with a place for every pack of the device
  int most_packs = 1;             // of the device
  bool passing_prepared = false;  // prepared parameters lie in the workspace, too
};

class Arena {
 public:
  Arena(const program::Program& program, const ArenaSizes& sizes);

  // An arena is a handle: its functions are const, and their callers may write to the memory.

  // Makes room for the inboxes of a further program and for stacks of `stack` partial sums.
  void enlarge(const program::Program& program, int stack);

  // Shared: parameters, gradients, states, inboxes.
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
  std::size_t workspace_bytes() const { return workspace_bytes_; }

  std::int64_t* counts(program::BufferId id) const { return at(id).counts; }
  std::int64_t* thread_counts(program::BufferId id, int thread) const;
  float* partial(program::BufferId id, int thread, int level) const;

  // Where the sum of the next pack goes, for the thread's `step` of its schedule.
  JoinTarget join_target(program::BufferId id, int thread, const arithmetic::JoinStep& step) const;

  int slots(program::BufferId id) const { return at(id).slots; }

 private:
  struct Place {
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
  const Place& at(program::BufferId id) const { return places_[static_cast<std::size_t>(id)]; }
  static std::size_t offset(const Place& place, int slot) {
    return place.first + static_cast<std::size_t>(slot) * place.stride;
  }
  void put_into_workspace(Place& place, std::size_t bytes_of_a_slot);

  const int threads_, most_packs_;
  std::vector<Place> places_;
  std::size_t workspace_bytes_ = 0;
  int stack_ = 0;
};

}  // namespace lockstep::cpu
