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

struct WorkKindOf {
  WorkKind operator()(const program::Forward&) const { return WorkKind::products; }
  WorkKind operator()(const program::InputGradient&) const { return WorkKind::products; }
  WorkKind operator()(const program::WeightGradient&) const { return WorkKind::products; }
  WorkKind operator()(const program::UnpoolWeightGradient&) const { return WorkKind::products; }
  WorkKind operator()(const program::ReluForward&) const { return WorkKind::layers; }
  WorkKind operator()(const program::ReluBackward&) const { return WorkKind::layers; }
  WorkKind operator()(const program::PoolForward&) const { return WorkKind::layers; }
  WorkKind operator()(const program::PoolBackward&) const { return WorkKind::layers; }
  WorkKind operator()(const program::Unpool&) const { return WorkKind::layers; }
  WorkKind operator()(const program::Add&) const { return WorkKind::layers; }
  WorkKind operator()(const program::Dropout&) const { return WorkKind::layers; }
  WorkKind operator()(const program::NormStatistics&) const { return WorkKind::layers; }
  WorkKind operator()(const program::NormCoefficients&) const { return WorkKind::layers; }
  WorkKind operator()(const program::RunningCoefficients&) const { return WorkKind::layers; }
  WorkKind operator()(const program::NormForward&) const { return WorkKind::layers; }
  WorkKind operator()(const program::NormSums&) const { return WorkKind::layers; }
  WorkKind operator()(const program::NormFactors&) const { return WorkKind::layers; }
  WorkKind operator()(const program::NormInputGradient&) const { return WorkKind::layers; }
  WorkKind operator()(const program::NormRunning&) const { return WorkKind::layers; }
  WorkKind operator()(const program::Load&) const { return WorkKind::rest; }
  WorkKind operator()(const program::Prepare&) const { return WorkKind::rest; }
  WorkKind operator()(const program::Loss&) const { return WorkKind::rest; }
  WorkKind operator()(const program::Check&) const { return WorkKind::rest; }
  WorkKind operator()(const program::Update&) const { return WorkKind::rest; }
  WorkKind operator()(const program::Look&) const { return WorkKind::rest; }
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
  return std::visit(WorkKindOf{}, instruction.operation);
}

std::string algorithm_name(const program::Convolution& c) {
  return c.algorithms.winograd() ? fmt::format("{0}x{0} tiles", c.algorithms.tile) : "direct";
}

std::string algorithm_name(const program::Instruction& instruction) {
  const program::Convolution* const convolution = std::visit(ConvolutionOf{}, instruction.operation);
  return convolution != nullptr ? algorithm_name(*convolution) : "";
}

}  // namespace lockstep::measure
