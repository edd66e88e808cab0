#include "program/program.h"

#include <algorithm>
#include <span>

#include "arithmetic/pack.h"
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
    return {"forward", {activation, prepared, parameter}, {activation, mask}, 2, 1};
  }
  Signature operator()(const ReluForward&) const { return {"relu", {activation}, {activation}, 1, 1}; }
  Signature operator()(const ReluBackward&) const {
    return {"relu backward", {activation, activation, activation}, {activation}, 2, 1};
  }
  Signature operator()(const PoolForward&) const { return {"pool", {activation}, {activation}, 1, 1}; }
  Signature operator()(const PoolBackward&) const {
    return {"pool backward", {activation, activation}, {activation}, 1, 1};
  }
  Signature operator()(const Unpool&) const { return {"unpool", {activation, mask}, {activation}, 2, 1}; }
  Signature operator()(const Add&) const { return {"add", {activation, activation}, {activation}, 2, 1}; }
  Signature operator()(const Dropout&) const { return {"dropout", {activation}, {activation}, 1, 1}; }
  Signature operator()(const Loss&) const {
    return {"loss", {activation, labels}, {activation, partial, counts, activation}, 2, 3};
  }
  Signature operator()(const InputGradient&) const {
    return {"input gradient", {activation, prepared}, {activation}, 2, 1};
  }
  Signature operator()(const WeightGradient&) const {
    return {"weight gradient", {activation, activation}, {partial, partial}, 2, 1};
  }
  Signature operator()(const UnpoolWeightGradient&) const {
    return {"unpool + weight gradient", {activation, activation, mask}, {partial, partial}, 3, 1};
  }
  Signature operator()(const NormStatistics&) const {
    return {"norm statistics", {activation}, {statistics}, 1, 1};
  }
  Signature operator()(const NormCoefficients&) const {
    return {"norm coefficients", {statistics, parameter, parameter}, {statistics}, 3, 1};
  }
  Signature operator()(const RunningCoefficients&) const {
    return {"running coefficients", {parameter, parameter, parameter, parameter}, {statistics}, 4, 1};
  }
  Signature operator()(const NormForward&) const {
    return {"norm", {activation, statistics, activation}, {activation}, 2, 1};
  }
  Signature operator()(const NormSums&) const {
    return {"norm sums", {activation, activation, statistics}, {statistics, partial, partial}, 3, 3};
  }
  Signature operator()(const NormFactors&) const {
    return {"norm factors", {statistics, statistics, statistics}, {statistics}, 3, 1};
  }
  Signature operator()(const NormInputGradient&) const {
    return {"norm input gradient", {activation, activation, statistics, statistics}, {activation}, 4, 1};
  }
  Signature operator()(const NormRunning&) const {
    return {"running statistics", {counts, statistics, parameter, parameter}, {parameter, parameter}, 4, 2};
  }
  Signature operator()(const Check& check) const {
    return {"check", std::vector(check.parts.size(), gradient), {counts}, check.parts.size(), 1};
  }
  Signature operator()(const Update& update) const {
    const std::size_t states = arithmetic::update_rule(update.rule).states.size();
    std::vector<Role> inputs{counts, parameter, gradient}, outputs{parameter};
    inputs.resize(3 + states, state);
    outputs.resize(1 + states, state);
    return {"update", std::move(inputs), std::move(outputs), 3 + states, 1 + states};
  }
  Signature operator()(const Look&) const {
    std::vector<Role> inputs(1 + parameters, parameter);
    inputs[0] = counts;
    return {"look", std::move(inputs), {counts}, 1 + parameters, 1};
  }

  std::size_t parameters = 0;  // of the program
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

std::string_view operation_name(const Operation& operation) {
  return std::visit(SignatureOf{}, operation).name;
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
      const Signature s = std::visit(SignatureOf{program.parameters.size()}, instruction.operation);
      if (const auto* const update = std::get_if<Update>(&instruction.operation))
        check(update->rule == program.rule, "update of {} by rule {}, the program's is {}", instruction.layer,
              arithmetic::update_rule(update->rule).name, arithmetic::update_rule(program.rule).name);
      check_roles(program, s.name, instruction.inputs, s.inputs, s.fewest_inputs);
      check_roles(program, s.name, instruction.outputs, s.outputs, s.fewest_outputs);
    }
  }
  for (const ExchangeInstruction& instruction : program.exchange)
    std::visit([&](const auto& operation) { check_regions(program, operation); }, instruction.operation);
}

}  // namespace lockstep::program
