#include "cpu/steps/step_maker.h"

#include "base/error.h"

namespace lockstep::cpu {
namespace {

using program::Instruction;

std::unique_ptr<Step> make_step_over(Step::Over wanted, const Instruction& instruction,
                                     const StepContext& context) {
  std::unique_ptr<Step> step = std::visit(StepMaker{instruction, context}, instruction.operation);
  if (step->over() != wanted) {
    throw Error(Fault::ours, "defect: '{}' does not run over {}",
                program::operation_name(instruction.operation),
                wanted == Step::Over::packs ? "packs" : "elements");
  }
  return step;
}

}  // namespace

std::unique_ptr<Step> StepMaker::operator()(const program::Look&) const {
  throw Error(Fault::ours, "defect: '{}' runs on the host", program::operation_name(instruction.operation));
}

std::unique_ptr<Step> make_pack_step(const Instruction& instruction, const StepContext& context) {
  return make_step_over(Step::Over::packs, instruction, context);
}

std::unique_ptr<Step> make_element_step(const Instruction& instruction, const StepContext& context) {
  return make_step_over(Step::Over::elements, instruction, context);
}

}  // namespace lockstep::cpu
