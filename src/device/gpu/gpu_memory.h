// The memory of one program on a GPU, planned as a whole before anything is allocated.
//
// A device works layer by layer over a group of packs, so an activation has a place for every pack of a
// group. Parameters, gradients and velocities lie in one stretch each, in the order of the program's sums and
// with the same offsets, so that one launch can update them all.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "device/device.h"
#include "device/gpu/driver.h"

namespace lockstep::device::gpu {

struct MemorySizes {
  int group = 1;       // packs that are worked on at once
  int most_packs = 1;  // of a share
  int stack = 1;       // deepest stack of partial sums
  // Floats of prepared parameters: for the way forward, and for the way back where it wants its own.
  std::map<program::BufferId, std::size_t> prepared = {}, prepared_back = {};
  std::vector<std::size_t> scratch = {};  // floats, by use
};

class GpuMemory {
 public:
  // Throws Error(device) that names what is needed and what there is, by class, if it does not fit.
  GpuMemory(Driver& driver, const program::Program& program, const MemorySizes& sizes);

  // Why it does not fit, or nothing.
  static std::string shortage(const Driver& driver, const program::Program& program,
                              const MemorySizes& sizes);

  // Throws Error(device) with need and have if there is no room for so many bytes more.
  static void expect_room(const Driver& driver, std::string_view what, std::size_t bytes);

  // An activation, mask, labels, parameter, gradient or prepared parameter.
  const Memory* at(program::BufferId id) const { return parts_.at(static_cast<std::size_t>(id)).get(); }

  // What the way back reads instead of at(id), where one buffer serves both ways.
  const Memory* prepared_back(program::BufferId id) const { return prepared_back_.at(id).get(); }

  // Of a partial sum: what each pack of a group gave, and the stack of subtrees.
  const Memory* pack_sums(program::BufferId id) const { return sums_.at(id).get(); }
  const Memory* stack(program::BufferId id) const { return stacks_.at(id).get(); }

  // Whole stretches, and where a parameter or gradient begins in them, in floats.
  const Memory* parameters() const { return parameters_.get(); }
  const Memory* gradients() const { return gradients_.get(); }
  const Memory* velocities() const { return velocities_.get(); }
  std::size_t stretch_floats() const { return stretch_floats_; }
  std::size_t offset(int sum) const { return offsets_[static_cast<std::size_t>(sum)]; }
  // Floats from there to the next sum: its own, and the space behind them.
  std::size_t room(int sum) const;

  const Memory* scratch(std::size_t use) const { return scratch_.at(use).get(); }
  const Memory* pixels() const { return pixels_.get(); }
  const Memory* predicted() const { return predicted_.get(); }
  const Memory* schedule() const { return schedule_.get(); }
  const Memory* verdict() const { return verdict_.get(); }
  int stack_levels() const { return sizes_.stack; }

 private:
  void plan_stretch();
  void allocate();

  Driver& driver_;
  const program::Program& program_;
  const MemorySizes sizes_;
  std::vector<std::size_t> offsets_;  // by sum
  std::size_t stretch_floats_ = 0;
  std::unique_ptr<Memory> parameters_, gradients_, velocities_;
  std::vector<std::unique_ptr<Memory>> parts_;  // by buffer; before what it is a part of goes
  std::map<program::BufferId, std::unique_ptr<Memory>> prepared_back_, sums_, stacks_;
  std::vector<std::unique_ptr<Memory>> scratch_;
  std::unique_ptr<Memory> pixels_, predicted_, schedule_, verdict_;
};

}  // namespace lockstep::device::gpu
