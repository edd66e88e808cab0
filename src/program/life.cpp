#include "program/life.h"

namespace lockstep::program {
namespace {

// Where an instruction stands in its segment.
enum Side : unsigned { kBefore = 1, kGrouped = 2, kAfter = 4 };

Side side_of(std::size_t instruction, const InstructionRange& grouped) {
  if (instruction < grouped.first) return kBefore;
  return instruction < grouped.last ? kGrouped : kAfter;
}

}  // namespace

std::vector<Life> lives_of(const Program& program, const Nest& nest) {
  std::vector<Life> lives(program.buffers.size());
  std::vector<bool> read_first(program.buffers.size(), false);
  int now = 0;
  for (std::size_t s = 0; s < program.segments.size(); ++s) {
    const Segment& segment = program.segments[s];
    if (segment.over != Segment::Over::packs) continue;
    const InstructionRange grouped = s < nest.grouped.size() ? nest.grouped[s] : InstructionRange{};
    const int start = now, end = start + static_cast<int>(segment.instructions.size()) - 1;
    std::vector<unsigned> sides(program.buffers.size(), 0);
    for (std::size_t i = 0; i < segment.instructions.size(); ++i, ++now) {
      const Instruction& instruction = segment.instructions[i];
      for (const auto* ids : {&instruction.inputs, &instruction.outputs}) {
        for (const BufferId id : *ids) {
          const auto at = static_cast<std::size_t>(id);
          Life& life = lives[at];
          if (!life.used()) {
            life.first = now;
            read_first[at] = ids == &instruction.inputs;
          }
          life.last = now;
          sides[at] |= side_of(i, grouped);
        }
      }
    }
    for (std::size_t at = 0; at < lives.size(); ++at) {
      // A device may copy labels in before the first instruction.
      if (sides[at] != 0 && program.buffers[at].role == Role::labels) lives[at].first = start;
      if (sides[at] == 0 || sides[at] == kBefore || sides[at] == kAfter) continue;
      lives[at].copies = nest.group;
      if (nest.group == 1 || sides[at] == kGrouped) continue;
      if ((sides[at] & kBefore) != 0) lives[at].first = start;
      if ((sides[at] & kAfter) != 0) lives[at].last = end;
    }
  }
  // What is read before it is written comes from outside the program and must not be overwritten.
  for (std::size_t at = 0; at < lives.size(); ++at) {
    if (!lives[at].used() || (!read_first[at] && !nest.keeps_activations)) continue;
    lives[at].first = kAlways.first;
    lives[at].last = kAlways.last;
  }
  return lives;
}

bool may_overwrite(const Instruction& instruction, std::size_t input) {
  const Operation& operation = instruction.operation;
  if (std::holds_alternative<Add>(operation) || std::holds_alternative<Dropout>(operation)) return true;
  // Operand 1 is y, or the coefficients.
  if (std::holds_alternative<ReluBackward>(operation) || std::holds_alternative<NormForward>(operation))
    return input != 1;
  return input == 0 && std::holds_alternative<NormInputGradient>(operation);
}

}  // namespace lockstep::program
