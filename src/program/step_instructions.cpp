#include "program/step_instructions.h"

#include <fmt/format.h>

namespace lockstep::program {

Signature Load::signature() { return {{}, {Role::activation, Role::labels}}; }

Signature Loss::signature() {
  return {.inputs = {Role::activation, Role::labels},
          .outputs = {Role::activation, Role::partial, Role::counts, Role::activation},
          .optional_outputs = 1};
}

std::string Loss::sizes() const { return fmt::format("{} classes", classes); }

Signature Check::signature() const { return {std::vector(parts.size(), Role::gradient), {Role::counts}}; }

Signature Update::signature() const {
  const std::size_t states = arithmetic::update_rule(rule).states.size();
  Signature buffers{{Role::counts, Role::parameter, Role::gradient}, {Role::parameter}};
  buffers.inputs.resize(3 + states, Role::state);
  buffers.outputs.resize(1 + states, Role::state);
  return buffers;
}

std::string Update::sizes() const {
  return fmt::format("elements {} to {}", part.first, part.first + part.count);
}

Signature Look::signature(std::size_t parameters) {
  Signature buffers{{Role::counts}, {Role::counts}};
  buffers.inputs.resize(1 + parameters, Role::parameter);
  return buffers;
}

}  // namespace lockstep::program
