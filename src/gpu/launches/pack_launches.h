// From an operation over packs to its launches. The file of its kind defines launch() for it and instantiates
// PackLaunches' operator(), see define_launch.h: an operation that no file does so for does not link.
#pragma once
#include "device/device.h"
#include "gpu/arguments.h"
#include "gpu/launch_plan.h"
#include "gpu/launches/launch_context.h"

namespace lockstep::gpu {

// The packs one call works on.
struct PackGroup {
  int first = 0;   // in the device's share
  int number = 0;  // of the first one in the minibatch
  int packs = 0;
  int examples = 0;  // that are there; the last pack may have absent lanes
};

struct PackLaunches {
  const LaunchContext& context;
  const program::Instruction& instruction;
  const PackGroup& group;
  const device::StepInput& input;

  template <class Operation>
  void operator()(const Operation& operation) const;

  // Input or output number `i` of the instruction; the sums of each pack, where the output is a partial sum.
  const Memory* in(std::size_t i) const { return context.memory.at(instruction.inputs[i]); }
  const Memory* out(std::size_t i) const { return context.memory.at(instruction.outputs[i]); }
  const Memory* sums(std::size_t i) const { return context.memory.pack_sums(instruction.outputs[i]); }
  bool has_bias() const { return instruction.inputs.size() > 2; }
  // Of a forward pass. Without a bias: memory that kernels are told not to read.
  const Memory* bias() const { return in(has_bias() ? 2 : 1); }
  const Memory* scratch(Scratch use) const { return context.memory.scratch(use); }
  int packs() const { return group.packs; }
  // Groups of channels in all packs. Where weights do not matter, a group is to kernels what a pack is: its
  // channels lie one behind the other, and so do the groups.
  int pack_groups(const program::Convolution& whole) const { return packs() * whole.groups; }
  // Floats of the first output, in all packs.
  std::size_t output_floats() const;
};

}  // namespace lockstep::gpu
