// Instructions that run once a step, their elements divided among the threads.
#include <algorithm>

#include "base/error.h"
#include "cpu/part.h"
#include "cpu/step.h"
#include "cpu/update.h"

namespace lockstep::cpu {
namespace {

using program::BufferId;
using program::Instruction;

std::size_t elements_of(const StepContext& context, BufferId id) {
  return context.program.buffers[static_cast<std::size_t>(id)].elements;
}

class PrepareStep : public Step {
 public:
  PrepareStep(const Instruction& i, const StepContext& context)
      : arena_(context.arena), from_(i.inputs[0]), to_(i.outputs[0]) {
    const auto found = context.plans.weights.find(to_);
    if (found != context.plans.weights.end() && !found->second->canonical())
      plan_ = found->second;  // else nothing reads it, or what it reads is the parameter
  }
  void run(const Work& work) const override {
    if (plan_)
      plan_->pack(arena_.shared(from_), arena_.prepared(to_, work.workspace), work.thread, work.threads);
  }

 private:
  const Arena& arena_;
  const BufferId from_, to_;
  std::shared_ptr<const PreparedWeights> plan_;
};

class CheckStep : public Step {
 public:
  CheckStep(const Instruction& i, const StepContext& context)
      : arena_(context.arena), kernels_(context.kernels), program_(context.program), checked_(i.inputs) {}
  void run(const Work& work) const override {
    for (const BufferId id : checked_) {
      const Part part =
          part_of(program_.buffers[static_cast<std::size_t>(id)].elements, work.thread, work.threads);
      if (!kernels_.all_finite(arena_.shared(id) + part.first, part.count)) *work.finite = false;
    }
  }

 private:
  const Arena& arena_;
  const Kernels& kernels_;
  const program::Program& program_;
  const std::vector<BufferId> checked_;
};

class UpdateStep : public Step {
 public:
  UpdateStep(const program::Update& update, const Instruction& i, const StepContext& context)
      : arena_(context.arena),
        kernels_(context.kernels),
        rule_(update.rule),
        weights_(i.inputs[0]),
        gradient_(i.inputs[1]),
        states_(i.inputs.begin() + 2, i.inputs.end()),
        elements_(elements_of(context, weights_)) {}
  void run(const Work& work) const override {
    const Part part = part_of(elements_, work.thread, work.threads);
    UpdateOperands operands{.weights = arena_.shared(weights_) + part.first,
                            .gradient = arena_.shared(gradient_) + part.first,
                            .count = part.count};
    for (std::size_t s = 0; s < states_.size(); ++s)
      operands.states[s] = arena_.shared(states_[s]) + part.first;
    update(kernels_, rule_, operands, work.input.update);
  }

 private:
  const Arena& arena_;
  const Kernels& kernels_;
  const arithmetic::UpdateKind rule_;
  const BufferId weights_, gradient_;
  const std::vector<BufferId> states_;
  const std::size_t elements_;
};

struct ElementStepMaker {
  const Instruction& i;
  const StepContext& context;

  std::unique_ptr<Step> operator()(const program::Prepare&) const {
    return std::make_unique<PrepareStep>(i, context);
  }
  std::unique_ptr<Step> operator()(const program::Check&) const {
    return std::make_unique<CheckStep>(i, context);
  }
  std::unique_ptr<Step> operator()(const program::Update& update) const {
    return std::make_unique<UpdateStep>(update, i, context);
  }
  template <class Other>
  std::unique_ptr<Step> operator()(const Other&) const {
    throw Error(Fault::ours, "defect: '{}' runs over packs, not over elements",
                program::operation_name(i.operation));
  }
};

}  // namespace

std::unique_ptr<Step> make_element_step(const Instruction& instruction, const StepContext& context) {
  return std::visit(ElementStepMaker{instruction, context}, instruction.operation);
}

}  // namespace lockstep::cpu
