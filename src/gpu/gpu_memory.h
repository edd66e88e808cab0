// The memory of one program on a GPU, planned as a whole before anything is allocated.
//
// A device works layer by layer over a group of packs, so an activation has room for every pack of a group.
// Activations and the sums of single packs lie in the places of the plan (program/memory_plan.h), each of
// which is allocated by itself. Parameters, gradients and each state of the update rule lie in one stretch
// each, in the order of the program's sums and with the same offsets, so that one launch can update them all.
// Parameters without a sum lie behind the others, where no check and no update comes.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "device/device.h"
#include "gpu/driver.h"
#include "program/memory_plan.h"

namespace lockstep::gpu {

struct MemorySizes {
  int group = 1;  // packs that are worked on at once; all of a share if activations outlive their segment
  int most_packs = 1;               // of a share
  int stack = 1;                    // deepest stack of partial sums
  std::size_t inbox = 0;            // floats
  bool borrows_parameters = false;  // of another executable
  bool keeps_activations = false;   // to the end of the step
  // Floats of prepared parameters: for the way forward, and for the way back where it wants its own.
  std::map<program::BufferId, std::size_t> prepared = {}, prepared_back = {};
  std::vector<std::size_t> scratch = {};  // floats, by use
};

class GpuMemory {
 public:
  // Throws Error(device) that names what is needed and what there is, by class, if it does not fit.
  // `lender`: whose parameters it borrows, of the same driver and model, which outlives it.
  GpuMemory(Driver& driver, const program::Program& program, const MemorySizes& sizes,
            const GpuMemory* lender = nullptr);

  // Why it does not fit into a part of the memory that is free, or nothing.
  static std::string shortage(const Driver& driver, const program::Program& program, const MemorySizes& sizes,
                              double of_free_memory = 1);

  // What the driver has left. What else is loaded there counts, too: an evaluation beside its training.
  static device::FreeMemory free_on(const Driver& driver);

  // Where everything lies; its bytes by class are those that are allocated.
  static program::MemoryPlan plan_of(const program::Program& program, const MemorySizes& sizes);

  // An activation, mask, labels, statistics, parameter, gradient or prepared parameter.
  const Memory* at(program::BufferId id) const {
    const int place = plan_.buffers.at(static_cast<std::size_t>(id)).place;
    return place >= 0 ? place_at(place) : blocks_.buffers.at(static_cast<std::size_t>(id)).get();
  }

  // What the way back reads instead of at(id), where one buffer serves both ways.
  const Memory* prepared_back(program::BufferId id) const { return blocks_.prepared_back.at(id).get(); }

  // Of a partial sum: what each pack of a group gave, and the stack of subtrees.
  const Memory* pack_sums(program::BufferId id) const {
    return place_at(plan_.pack_sums.at(static_cast<std::size_t>(id)).place);
  }
  const Memory* stack(program::BufferId id) const { return blocks_.stacks.at(id).get(); }

  // Whole stretches, and where a parameter or gradient begins in them, in floats.
  const Memory* parameters() const { return blocks_.parameters.get(); }
  const Memory* gradients() const { return blocks_.gradients.get(); }
  std::size_t state_count() const { return blocks_.states.size(); }
  const Memory* states(std::size_t state) const { return blocks_.states.at(state).get(); }  // by the rule
  std::size_t stretch_floats() const { return stretch_floats_; }
  std::size_t offset(int sum) const { return offsets_[static_cast<std::size_t>(sum)]; }
  // Floats from there to the next sum: its own, and the space behind them.
  std::size_t room(int sum) const;

  const Memory* scratch(std::size_t use) const { return blocks_.scratch.at(use).get(); }
  const Memory* pixels() const { return blocks_.pixels.get(); }
  const Memory* examples() const { return blocks_.examples.get(); }  // their numbers in the dataset, by lane
  const Memory* predicted() const { return blocks_.predicted.get(); }
  const Memory* schedule() const { return blocks_.schedule.get(); }
  const Memory* verdict() const { return blocks_.verdict.get(); }
  int stack_levels() const { return sizes_.stack; }

  // What other devices send in an exchange; null if they send nothing.
  const Memory* inbox() const { return blocks_.inbox.get(); }
  std::size_t inbox_floats() const { return sizes_.inbox; }
  // Makes room for a program that was not known when the memory was planned. No queue may use the memory now.
  // Throws Error(device) with need and have.
  void enlarge(std::size_t inbox, int stack);

 private:
  // All that is allocated.
  struct Blocks {
    std::unique_ptr<Memory> parameters, gradients;
    std::vector<std::unique_ptr<Memory>> states;  // by the rule
    std::vector<std::unique_ptr<Memory>>
        buffers;                                  // by buffer; those that are parts of the above go before it
    std::vector<std::unique_ptr<Memory>> places;  // of the plan
    std::map<program::BufferId, std::unique_ptr<Memory>> prepared_back, stacks;
    std::vector<std::unique_ptr<Memory>> scratch;
    std::unique_ptr<Memory> pixels, examples, predicted, schedule, verdict, inbox;
  };
  struct Allocation {
    program::MemoryClass of;
    std::size_t bytes;  // not 0
    std::unique_ptr<Memory>* to;
  };

  // What a program takes, and where in `blocks` each of it belongs. A shortage and the allocation itself are
  // two readings of this list.
  static std::vector<Allocation> allocations(const program::Program& program, const MemorySizes& sizes,
                                             const program::MemoryPlan& plan, Blocks& blocks);
  const Memory* place_at(int place) const { return blocks_.places.at(static_cast<std::size_t>(place)).get(); }
  struct Need;
  static Need need_of(const program::Program& program, const MemorySizes& sizes);
  void plan_stretch();
  void divide_stretches(const GpuMemory* lender);

  Driver& driver_;
  const program::Program& program_;
  MemorySizes sizes_;
  const program::MemoryPlan plan_;
  std::vector<std::size_t> offsets_;            // by sum
  std::vector<std::size_t> parameter_offsets_;  // by number of the parameter
  std::size_t stretch_floats_ = 0;
  Blocks blocks_;
};

}  // namespace lockstep::gpu
