// For files that make steps. The step of an operation is what
//
//   std::unique_ptr<Step> make_step(const program::Add& add, const program::Instruction& instruction,
//                                   const StepContext& context)
//
// returns; the file ends with `template std::unique_ptr<Step> StepMaker::operator()(const program::Add&)
// const;`.
#pragma once
#include "cpu/steps/step_maker.h"

namespace lockstep::cpu {

template <class Operation>
std::unique_ptr<Step> StepMaker::operator()(const Operation& operation) const {
  return make_step(operation, instruction, context);
}

}  // namespace lockstep::cpu
