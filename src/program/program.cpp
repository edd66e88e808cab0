#include "program/program.h"

#include <algorithm>
#include <span>

#include "arithmetic/pack.h"
#include "base/error.h"

namespace lockstep::program {
namespace {

using enum Role;

// What an operation reads and writes.
struct SignatureOf {
  const Program& program;

  Signature operator()(const Look&) const { return Look::signature(program.parameters.size()); }
  template <class Other>
  Signature operator()(const Other& operation) const {
    return operation.signature();
  }
};

void check_roles(const Program& program, std::string_view name, std::span<const BufferId> ids,
                 std::span<const Role> roles, std::size_t optional) {
  const std::size_t fewest = roles.size() - optional;
  check(ids.size() >= fewest && ids.size() <= roles.size(), "{} has {} buffers, expected {} to {}", name,
        ids.size(), fewest, roles.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    check(ids[i] >= 0 && static_cast<std::size_t>(ids[i]) < program.buffers.size(),
          "{} names buffer {} of {}", name, ids[i], program.buffers.size());
    const Buffer& buffer = program.buffers[static_cast<std::size_t>(ids[i])];
    check(buffer.role == roles[i], "{} cannot use buffer {} as operand {}", name, buffer.name, i);
  }
}

void check_region(const Program& program, const Region& region) {
  check(region.buffer >= 0 && static_cast<std::size_t>(region.buffer) < program.buffers.size(),
        "a region of buffer {} of {}", region.buffer, program.buffers.size());
  const Buffer& buffer = program.buffers[static_cast<std::size_t>(region.buffer)];
  check(region.count > 0 && region.first + region.count <= buffer.elements && region.row >= 0 &&
            region.rows > 0,
        "elements {} to {} of {}, which has {}", region.first, region.first + region.count, buffer.name,
        buffer.elements);
  check(region.rows == 1 || region.count == buffer.elements, "several rows of a part of {}", buffer.name);
  region_bytes(program, region);
}

void check_regions(const Program& program, const Send& send) { check_region(program, send.region); }
void check_regions(const Program& program, const Receive& receive) { check_region(program, receive.region); }
void check_regions(const Program& program, const Join& join) {
  check_region(program, join.output);
  check(!join.inputs.empty(), "a join of nothing");
  const bool integers = join.op == Join::Operator::integer_add || join.op == Join::Operator::both;
  for (const Region& input : join.inputs) {
    check_region(program, input);
    const Role role = program.buffers[static_cast<std::size_t>(input.buffer)].role;
    check(integers ? role == counts : role == partial || role == inbox || role == statistics,
          "a join cannot read {}", program.buffers[static_cast<std::size_t>(input.buffer)].name);
    check(input.count == join.output.count, "a join of {} and {} elements", input.count, join.output.count);
  }
  const Role role = program.buffers[static_cast<std::size_t>(join.output.buffer)].role;
  check(integers ? role == counts : role == gradient || role == statistics || join.output == join.inputs[0],
        "a join cannot write {}", program.buffers[static_cast<std::size_t>(join.output.buffer)].name);
}

}  // namespace

const InstructionTraits& traits_of(const Operation& operation) {
  return std::visit([]<class Kind>(const Kind&) -> const InstructionTraits& { return Kind::kTraits; },
                    operation);
}

Segment& packs_of(Program& program) {
  const auto found = std::ranges::find(program.segments, Segment::Over::packs, &Segment::over);
  check(found != program.segments.end(), "a program without packs");
  return *found;
}

const Segment& packs_of(const Program& program) { return packs_of(const_cast<Program&>(program)); }

std::size_t region_bytes(const Program& program, const Region& region) {
  const Buffer& buffer = program.buffers.at(static_cast<std::size_t>(region.buffer));
  const std::size_t elements = region.count * static_cast<std::size_t>(region.rows);
  switch (buffer.role) {
    case activation:
      return elements * arithmetic::kPack * sizeof(float);
    case counts:
      return elements * sizeof(std::int64_t);
    case mask:
    case labels:
    case prepared:
      break;
    case parameter:
    case partial:
    case gradient:
    case state:
    case inbox:
    case statistics:
      return elements * sizeof(float);
  }
  throw Error(Fault::ours, "defect: {} cannot travel", buffer.name);
}

void check_program(const Program& program) {
  for (const Segment& segment : program.segments) {
    for (const Instruction& instruction : segment.instructions) {
      const Signature s = std::visit(SignatureOf{program}, instruction.operation);
      const std::string_view name = operation_name(instruction.operation);
      if (const auto* const update = std::get_if<Update>(&instruction.operation))
        check(update->rule == program.rule, "update of {} by rule {}, the program's is {}", instruction.layer,
              arithmetic::update_rule(update->rule).name, arithmetic::update_rule(program.rule).name);
      check_roles(program, name, instruction.inputs, s.inputs, s.optional_inputs);
      check_roles(program, name, instruction.outputs, s.outputs, s.optional_outputs);
    }
  }
  for (const ExchangeInstruction& instruction : program.exchange)
    std::visit([&](const auto& operation) { check_regions(program, operation); }, instruction.operation);
}

}  // namespace lockstep::program
