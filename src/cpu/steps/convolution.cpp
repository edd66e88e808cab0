#include <algorithm>

#include "cpu/steps/buffer_step.h"
#include "cpu/steps/define_step.h"

namespace lockstep::cpu {
namespace {

// A convolution forward, or its input gradient: the latter has no bias.
class ConvolutionStep : public BufferStep {
 public:
  ConvolutionStep(Direction direction, const program::Instruction& i, const StepContext& context)
      : BufferStep(i, context), plan_(context.plans.layers.at({i.inputs[1], direction})) {}
  std::size_t scratch_floats() const override { return plan_->scratch_floats(); }

  void run(const Work& work) const override {
    // Where a plan takes several packs at once, their numbers lie one behind the other.
    for (int pack = work.first; pack < work.last; pack += plan_->most_packs()) {
      run_packs(work, pack, std::min(plan_->most_packs(), work.last - pack));
    }
  }

 private:
  void run_packs(const Work& work, int pack, int packs) const {
    ConvolutionPlan::Operands operands{};
    operands.input = in(0, work, pack);
    operands.weights = arena_.prepared(inputs_[1], work.workspace);
    operands.bias = inputs_.size() > 2 ? arena_.shared(inputs_[2]) : nullptr;
    operands.output = out(0, work, pack);
    operands.mask = outputs_.size() > 1 ? bytes(outputs_[1], work, pack) : nullptr;
    operands.packs = packs;
    plan_->run(operands, work.scratch());
  }

  const std::shared_ptr<const ConvolutionPlan> plan_;
};

}  // namespace

std::unique_ptr<Step> make_step(const program::Forward&, const program::Instruction& instruction,
                                const StepContext& context) {
  return std::make_unique<ConvolutionStep>(Direction::forward, instruction, context);
}

std::unique_ptr<Step> make_step(const program::InputGradient&, const program::Instruction& instruction,
                                const StepContext& context) {
  return std::make_unique<ConvolutionStep>(Direction::input_gradient, instruction, context);
}

template std::unique_ptr<Step> StepMaker::operator()(const program::Forward&) const;
template std::unique_ptr<Step> StepMaker::operator()(const program::InputGradient&) const;

}  // namespace lockstep::cpu
