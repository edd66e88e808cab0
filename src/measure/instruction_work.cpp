#include "measure/instruction_work.h"

#include <fmt/format.h>

namespace lockstep::measure {
namespace {

// What an instruction multiplies by; null if it does not multiply.
struct ConvolutionOf {
  const program::Convolution* operator()(const program::Prepare&) const { return nullptr; }
  template <class Operation>
  const program::Convolution* operator()(const Operation& operation) const {
    if constexpr (requires { operation.convolution; }) {
      return &operation.convolution;
    } else {
      return nullptr;
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
  const program::Convolution* const convolution = std::visit(ConvolutionOf{}, instruction.operation);
  return convolution != nullptr ? 2 * program::multiply_adds(*convolution) : 0;
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

WorkKind work_kind(const program::Instruction& instruction) {
  return program::traits_of(instruction.operation).work;
}

std::string algorithm_name(const program::Convolution& c) {
  return c.algorithms.winograd() ? fmt::format("{0}x{0} tiles", c.algorithms.tile) : "direct";
}

std::string algorithm_name(const program::Instruction& instruction) {
  const program::Convolution* const convolution = std::visit(ConvolutionOf{}, instruction.operation);
  return convolution != nullptr ? algorithm_name(*convolution) : "";
}

}  // namespace lockstep::measure
