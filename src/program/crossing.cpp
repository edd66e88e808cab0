#include "program/crossing.h"

namespace lockstep::program {

std::vector<bool> crosses_segments(const Program& program) {
  std::vector<const Segment*> user(program.buffers.size(), nullptr);
  std::vector<bool> crosses(program.buffers.size(), false);
  for (const Segment& segment : program.segments) {
    if (segment.over != Segment::Over::packs) continue;
    for (const Instruction& i : segment.instructions) {
      for (const auto* ids : {&i.inputs, &i.outputs}) {
        for (const BufferId id : *ids) {
          const auto at = static_cast<std::size_t>(id);
          if (user[at] != nullptr && user[at] != &segment) crosses[at] = true;
          user[at] = &segment;
        }
      }
    }
  }
  for (const ExchangeInstruction& instruction : program.exchange) {
    if (const auto* const send = std::get_if<Send>(&instruction.operation))
      crosses[static_cast<std::size_t>(send->region.buffer)] = true;
    if (const auto* const receive = std::get_if<Receive>(&instruction.operation))
      crosses[static_cast<std::size_t>(receive->region.buffer)] = true;
  }
  return crosses;
}

}  // namespace lockstep::program
