#include "cpu/part.h"
#include "cpu/steps/define_step.h"

namespace lockstep::cpu {
namespace {

class CheckStep : public Step {
 public:
  CheckStep(const program::Check& check, const program::Instruction& i, const StepContext& context)
      : arena_(context.arena), kernels_(context.kernels), parts_(check.parts), checked_(i.inputs) {}
  Over over() const override { return Over::elements; }
  void run(const Work& work) const override {
    for (std::size_t i = 0; i < checked_.size(); ++i) {
      const Part part = part_of(parts_[i].count, work.thread, work.threads);
      const float* const from = arena_.shared(checked_[i]) + parts_[i].first + part.first;
      if (!kernels_.all_finite(from, part.count)) *work.finite = false;
    }
  }

 private:
  const Arena& arena_;
  const Kernels& kernels_;
  const std::vector<program::Part> parts_;
  const std::vector<program::BufferId> checked_;
};

}  // namespace

std::unique_ptr<Step> make_step(const program::Check& check, const program::Instruction& instruction,
                                const StepContext& context) {
  return std::make_unique<CheckStep>(check, instruction, context);
}

template std::unique_ptr<Step> StepMaker::operator()(const program::Check&) const;

}  // namespace lockstep::cpu
