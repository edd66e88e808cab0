#include "measure/instruction_work.h"

namespace lockstep::measure {
namespace {

struct MultiplyAdds {
  double operator()(const program::Prepare&) const { return 0; }
  template <class Operation>
  double operator()(const Operation& operation) const {
    if constexpr (requires { operation.convolution; }) {
      return program::multiply_adds(operation.convolution);
    } else {
      return 0;
    }
  }
};

// What is done, in the words of someone who does not know how instructions were fused.
struct ActionOf {
  std::string operator()(const program::Load&) const { return "load"; }
  std::string operator()(const program::UnpoolWeightGradient&) const { return "weight gradient"; }
  std::string operator()(const program::Loss&) const { return ""; }  // the layer says it already
  template <class Operation>
  std::string operator()(const Operation& operation) const {
    return std::string(program::operation_name(operation));
  }
};

}  // namespace

double flops_per_example(const program::Instruction& instruction) {
  return 2 * std::visit(MultiplyAdds{}, instruction.operation);
}

double flops_per_example(const program::Program& program) {
  double flops = 0;
  for (const program::Segment& segment : program.segments) {
    if (segment.over != program::Segment::Over::packs) continue;
    for (const program::Instruction& i : segment.instructions) flops += flops_per_example(i);
  }
  return flops;
}

std::string kernel_name(const program::Instruction& instruction) {
  const std::string layer = instruction.layer.substr(0, instruction.layer.find('+'));
  const std::string action = std::visit(ActionOf{}, instruction.operation);
  return action.empty() ? layer : layer + " " + action;
}

}  // namespace lockstep::measure
