// From an operation to its step. The file of its kind defines make_step() for it and instantiates this, see
// define_step.h: an operation that no file does so for does not link.
#pragma once
#include "cpu/step.h"

namespace lockstep::cpu {

struct StepMaker {
  const program::Instruction& instruction;
  const StepContext& context;

  template <class Operation>
  std::unique_ptr<Step> operator()(const Operation& operation) const;
  std::unique_ptr<Step> operator()(const program::Look& look) const;  // throws: it runs on the host
};

}  // namespace lockstep::cpu
