#include "program/program.h"

#include <array>
#include <span>

#include "base/error.h"

namespace lockstep::program {
namespace {

using enum Role;

// What each operation reads and writes. Optional buffers stand last and are marked by the smaller count.
struct Signature {
  std::string_view name;
  std::vector<Role> inputs, outputs;
  std::size_t fewest_inputs, fewest_outputs;
};

struct SignatureOf {
  Signature operator()(const Load&) const { return {"load", {}, {activation, labels}, 0, 2}; }
  Signature operator()(const Prepare&) const { return {"prepare", {parameter}, {prepared}, 1, 1}; }
  Signature operator()(const Forward&) const {
    return {"forward", {activation, prepared, parameter}, {activation, mask}, 3, 1};
  }
  Signature operator()(const ReluForward&) const { return {"relu", {activation}, {activation}, 1, 1}; }
  Signature operator()(const ReluBackward&) const {
    return {"relu backward", {activation, activation}, {activation}, 2, 1};
  }
  Signature operator()(const PoolForward&) const { return {"pool", {activation}, {activation}, 1, 1}; }
  Signature operator()(const PoolBackward&) const {
    return {"pool backward", {activation, activation}, {activation}, 1, 1};
  }
  Signature operator()(const Unpool&) const { return {"unpool", {activation, mask}, {activation}, 2, 1}; }
  Signature operator()(const Add&) const { return {"add", {activation, activation}, {activation}, 2, 1}; }
  Signature operator()(const Loss&) const {
    return {"loss", {activation, labels}, {activation, partial, tally, activation}, 2, 3};
  }
  Signature operator()(const InputGradient&) const {
    return {"input gradient", {activation, prepared}, {activation}, 2, 1};
  }
  Signature operator()(const WeightGradient&) const {
    return {"weight gradient", {activation, activation}, {partial, partial}, 2, 2};
  }
  Signature operator()(const UnpoolWeightGradient&) const {
    return {"unpool + weight gradient", {activation, activation, mask}, {partial, partial}, 3, 2};
  }
  Signature operator()(const Check&) const { return {"check", {}, {}, 1, 0}; }
  Signature operator()(const Update& update) const {
    const std::size_t states = arithmetic::update_rule(update.rule).states.size();
    std::vector<Role> inputs{parameter, gradient}, outputs{parameter};
    inputs.resize(2 + states, state);
    outputs.resize(1 + states, state);
    return {"update", std::move(inputs), std::move(outputs), 2 + states, 1 + states};
  }
};

void check_roles(const Program& program, std::string_view name, std::span<const BufferId> ids,
                 std::span<const Role> roles, std::size_t fewest) {
  check(ids.size() >= fewest && ids.size() <= roles.size(), "{} has {} buffers, expected {} to {}", name,
        ids.size(), fewest, roles.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    check(ids[i] >= 0 && static_cast<std::size_t>(ids[i]) < program.buffers.size(),
          "{} names buffer {} of {}", name, ids[i], program.buffers.size());
    const Buffer& buffer = program.buffers[static_cast<std::size_t>(ids[i])];
    check(buffer.role == roles[i], "{} cannot use buffer {} as operand {}", name, buffer.name, i);
  }
}

}  // namespace

std::string_view operation_name(const Operation& operation) {
  return std::visit(SignatureOf{}, operation).name;
}

void check_program(const Program& program) {
  for (const Segment& segment : program.segments) {
    for (const Instruction& instruction : segment.instructions) {
      Signature s = std::visit(SignatureOf{}, instruction.operation);
      if (std::holds_alternative<Check>(instruction.operation))
        s.inputs.assign(instruction.inputs.size(), gradient);
      if (const auto* const update = std::get_if<Update>(&instruction.operation))
        check(update->rule == program.rule, "update of {} by rule {}, the program's is {}", instruction.layer,
              arithmetic::update_rule(update->rule).name, arithmetic::update_rule(program.rule).name);
      check_roles(program, s.name, instruction.inputs, s.inputs, s.fewest_inputs);
      check_roles(program, s.name, instruction.outputs, s.outputs, s.fewest_outputs);
    }
  }
}

}  // namespace lockstep::program
