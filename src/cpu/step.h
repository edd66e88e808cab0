// An instruction made ready to run on a CPU device: its plan is built, its buffers are known. A step is
// shared by the threads of the device and holds nothing that changes.
#pragma once
#include <atomic>
#include <memory>
#include <span>

#include "cpu/arena.h"
#include "cpu/convolution_plans.h"
#include "device/device.h"
#include "program/program.h"

namespace lockstep::cpu {

// What one thread is asked to do: packs [first, last) of its own share, or its part of all elements.
struct Work {
  const device::StepInput& input;
  int thread, threads;
  int first_pack = 0;                                   // of the thread, in the minibatch
  int first = 0, last = 0;                              // counted from first_pack
  int first_kept = 0;                                   // first_pack, counted from the device's first
  std::span<const arithmetic::JoinStep> schedule = {};  // of the thread, by pack
  std::byte* workspace = nullptr;                       // activations, then scratch
  std::size_t scratch_offset = 0;
  std::atomic<bool>* finite = nullptr;

  float* scratch() const { return reinterpret_cast<float*>(workspace + scratch_offset); }
};

class Step {
 public:
  enum class Over { packs, elements };

  virtual ~Step() = default;
  virtual Over over() const = 0;
  virtual std::size_t scratch_floats() const { return 0; }
  virtual void run(const Work& work) const = 0;
};

struct StepContext {
  const Arena& arena;
  const Kernels& kernels;
  const ConvolutionPlans& plans;
  const program::Program& program;
  int group;  // most packs in one call

  std::size_t elements(program::BufferId id) const {
    return program.buffers[static_cast<std::size_t>(id)].elements;
  }
};

// Throws Error(ours) if the instruction does not run over packs, or not over elements.
std::unique_ptr<Step> make_pack_step(const program::Instruction& instruction, const StepContext& context);
std::unique_ptr<Step> make_element_step(const program::Instruction& instruction, const StepContext& context);

}  // namespace lockstep::cpu
