// Turns an instruction into launches of kernels (launches/). It knows where the instruction's buffers are and
// what the kernels are called, and nothing else.
#pragma once
#include "gpu/launches/launch_context.h"
#include "gpu/launches/pack_launches.h"

namespace lockstep::gpu {

class Launcher {
 public:
  // Requires: all outlive it.
  Launcher(Driver& driver, const GpuMemory& memory, const program::Program& program);

  // Every kind of instruction that runs over packs. The sums of each pack end in pack_sums().
  void run(const program::Instruction& instruction, const PackGroup& group,
           const device::StepInput& input) const;

  void prepare(const program::Instruction& instruction) const;
  // What batch norm does over elements. False, and nothing done: the instruction is another one.
  bool norm_elements(const program::Instruction& instruction) const;

  // Adds the group's packs to the stack of a partial sum.
  void join_packs(program::BufferId partial, const PackGroup& group) const;

 private:
  const LaunchContext context_;
};

}  // namespace lockstep::gpu
