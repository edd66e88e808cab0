#include "cpu/steps/define_step.h"

namespace lockstep::cpu {
namespace {

class PrepareStep : public Step {
 public:
  PrepareStep(const program::Instruction& i, const StepContext& context)
      : arena_(context.arena), from_(i.inputs[0]), to_(i.outputs[0]) {
    const auto found = context.plans.weights.find(to_);
    if (found != context.plans.weights.end() && !found->second->canonical())
      plan_ = found->second;  // else no layer reads the buffer, or layers read the parameter itself
  }
  Over over() const override { return Over::elements; }
  void run(const Work& work) const override {
    if (plan_)
      plan_->prepare(arena_.shared(from_), arena_.prepared(to_, work.workspace), work.thread, work.threads);
  }

 private:
  const Arena& arena_;
  const program::BufferId from_, to_;
  std::shared_ptr<const PreparedWeights> plan_;
};

}  // namespace

std::unique_ptr<Step> make_step(const program::Prepare&, const program::Instruction& instruction,
                                const StepContext& context) {
  return std::make_unique<PrepareStep>(instruction, context);
}

template std::unique_ptr<Step> StepMaker::operator()(const program::Prepare&) const;

}  // namespace lockstep::cpu
