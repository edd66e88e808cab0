// What steps over packs have in common: where the buffers of an instruction are, and the loop over the packs.
#pragma once
#include <vector>

#include "cpu/step.h"

namespace lockstep::cpu {

// Knows where an instruction's buffers are.
class BufferStep : public Step {
 public:
  BufferStep(const program::Instruction& i, const StepContext& context)
      : arena_(context.arena), kernels_(context.kernels), inputs_(i.inputs), outputs_(i.outputs) {}
  Over over() const override { return Over::packs; }

 protected:
  // Input or output number `i` of the instruction, for pack `pack` of the thread.
  const float* in(std::size_t i, const Work& work, int pack) const { return floats(inputs_[i], work, pack); }
  float* out(std::size_t i, const Work& work, int pack) const { return floats(outputs_[i], work, pack); }
  std::uint8_t* bytes(program::BufferId id, const Work& work, int pack) const {
    if (arena_.kept(id)) return reinterpret_cast<std::uint8_t*>(arena_.kept_pack(id, work.first_kept + pack));
    return arena_.bytes(id, work.workspace, pack % arena_.slots(id));
  }
  // Of a sum that the instruction may do without.
  JoinTarget join(std::size_t output, const Work& work, int pack) const {
    if (output >= outputs_.size()) return {};
    return arena_.join_target(outputs_[output], work.thread, work.schedule[static_cast<std::size_t>(pack)]);
  }

  const Arena& arena_;
  const Kernels& kernels_;
  const std::vector<program::BufferId> inputs_, outputs_;

 private:
  float* floats(program::BufferId id, const Work& work, int pack) const {
    if (arena_.kept(id)) return reinterpret_cast<float*>(arena_.kept_pack(id, work.first_kept + pack));
    return arena_.activation(id, work.workspace, pack % arena_.slots(id));
  }
};

// Takes one pack after the other.
class PackStep : public BufferStep {
 public:
  using BufferStep::BufferStep;

  void run(const Work& work) const override {
    for (int pack = work.first; pack < work.last; ++pack) run_pack(work, pack);
  }

 protected:
  virtual void run_pack(const Work& work, int pack) const = 0;
};

}  // namespace lockstep::cpu
