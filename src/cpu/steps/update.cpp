#include "cpu/update.h"

#include <algorithm>

#include "cpu/part.h"
#include "cpu/steps/define_step.h"

namespace lockstep::cpu {
namespace {

class UpdateStep : public Step {
 public:
  UpdateStep(const program::Update& update, const program::Instruction& i, const StepContext& context)
      : arena_(context.arena),
        kernels_(context.kernels),
        update_(update),
        verdict_(i.inputs[0]),
        weights_(i.inputs[1]),
        gradient_(i.inputs[2]),
        states_(i.inputs.begin() + 3, i.inputs.end()),
        states_first_(
            std::ranges::find(context.program.sums, weights_, &program::Sum::parameter)->states_first) {}
  Over over() const override { return Over::elements; }
  void run(const Work& work) const override {
    if (*arena_.counts(verdict_) == 0) return;
    const Part part = part_of(update_.part.count, work.thread, work.threads);
    const std::size_t first = update_.part.first + part.first;
    UpdateOperands operands{.weights = arena_.shared(weights_) + first,
                            .gradient = arena_.shared(gradient_) + first,
                            .count = part.count};
    for (std::size_t s = 0; s < states_.size(); ++s)
      operands.states[s] = arena_.shared(states_[s]) + (first - states_first_);
    const arithmetic::UpdateScalars& scalars = work.input.update;
    update(kernels_, update_.rule, operands, update_.decays ? scalars : scalars.without_decay());
  }

 private:
  const Arena& arena_;
  const Kernels& kernels_;
  const program::Update update_;
  const program::BufferId verdict_, weights_, gradient_;
  const std::vector<program::BufferId> states_;
  const std::size_t states_first_;  // the element of the parameter that the states start at
};

}  // namespace

std::unique_ptr<Step> make_step(const program::Update& update, const program::Instruction& instruction,
                                const StepContext& context) {
  return std::make_unique<UpdateStep>(update, instruction, context);
}

template std::unique_ptr<Step> StepMaker::operator()(const program::Update&) const;

}  // namespace lockstep::cpu
