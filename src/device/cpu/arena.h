// The memory of one program on a CPU device: who has which buffer where.
// Activations, masks and labels belong to a thread and have one or more slots, a slot holding one pack.
// Partial sums belong to a thread and are a small stack (arithmetic/tree.h). All else is shared by the
// threads.
#pragma once
#include <cstdint>
#include <vector>

#include "arithmetic/tree.h"
#include "base/aligned_buffer.h"
#include "device/cpu/kernels.h"
#include "program/program.h"

namespace lockstep::device::cpu {

struct ArenaSizes {
  int threads = 1;
  std::vector<int> slots;             // by buffer: packs that are kept at once in a thread
  std::vector<std::size_t> prepared;  // by buffer: floats of a prepared parameter
  int stack = 1;                      // deepest stack of partial sums
};

class Arena {
 public:
  Arena(const program::Program& program, const ArenaSizes& sizes);

  // An arena is a handle: who has it may write through it.

  // Shared: parameters, gradients, prepared parameters.
  float* shared(program::BufferId id) const { return at(id).floats; }

  float* activation(program::BufferId id, int thread, int slot) const {
    return at(id).floats + offset(at(id), thread, slot);
  }
  std::uint8_t* bytes(program::BufferId id, int thread, int slot) const {
    return at(id).bytes + offset(at(id), thread, slot);
  }
  std::int64_t* tally(program::BufferId id, int thread) const;
  float* partial(program::BufferId id, int thread, int level) const;

  // Where the sum of the next pack goes, for the thread's `step` of its schedule.
  JoinTarget join_target(program::BufferId id, int thread, const arithmetic::JoinStep& step) const;

  int slots(program::BufferId id) const { return at(id).slots; }

 private:
  struct Place {
    std::size_t stride = 0;  // from one slot, level or thread to the next, in elements of the memory
    int slots = 1;
    AlignedBuffer<float> float_memory;
    AlignedBuffer<std::uint8_t> byte_memory;
    AlignedBuffer<std::int64_t> count_memory;
    float* floats = nullptr;
    std::uint8_t* bytes = nullptr;
    std::int64_t* counts = nullptr;
  };
  const Place& at(program::BufferId id) const { return places_[static_cast<std::size_t>(id)]; }
  static std::size_t offset(const Place& place, int thread, int slot) {
    return static_cast<std::size_t>(thread * place.slots + slot) * place.stride;
  }

  std::vector<Place> places_;
  int stack_;
};

}  // namespace lockstep::device::cpu
