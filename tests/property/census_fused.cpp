// What nodes become when they are fused, counted in the instructions of a case's training.
#include <algorithm>

#include "program/compile.h"
#include "property/census.h"

namespace lockstep::property {
namespace {

template <class Operation, class Test>
bool any_instruction(const Case& c, Test test) {
  if (c.unfused != 0) return false;
  const program::Program program = program::compile_training(model_of(c));
  return std::ranges::any_of(program.segments, [&](const program::Segment& segment) {
    return std::ranges::any_of(segment.instructions, [&](const program::Instruction& instruction) {
      const auto* const operation = std::get_if<Operation>(&instruction.operation);
      return operation != nullptr && test(*operation, instruction.inputs.size());
    });
  });
}

bool norm_in_a_sum(const Case& c, bool relu) {
  return any_instruction<program::NormForward>(c, [&](const program::NormForward& norm, std::size_t inputs) {
    return inputs == 3 && norm.relu == relu;
  });
}

}  // namespace

void Census::add_fused() {
  rows_.push_back({"a batch norm computed in a sum",
                   [](const Case& c, const Outcome&) { return norm_in_a_sum(c, false); }});
  rows_.push_back({"a batch norm computed in a sum with relu",
                   [](const Case& c, const Outcome&) { return norm_in_a_sum(c, true); }});
  rows_.push_back({"a sum with relu", [](const Case& c, const Outcome&) {
                     return any_instruction<program::Add>(
                         c, [](const program::Add& add, std::size_t) { return add.relu; });
                   }});
  rows_.push_back({"gradients that meet on the way back through a relu", [](const Case& c, const Outcome&) {
                     return any_instruction<program::ReluBackward>(
                         c, [](const program::ReluBackward&, std::size_t inputs) { return inputs == 3; });
                   }});
}

}  // namespace lockstep::property
