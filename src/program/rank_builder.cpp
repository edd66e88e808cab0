#include "program/rank_builder.h"

#include <algorithm>

#include "base/error.h"

namespace lockstep::program {

BufferId RankBuilder::add_buffer(std::string name, Role role, std::size_t elements) {
  program_.buffers.push_back({std::move(name), role, elements});
  return static_cast<BufferId>(program_.buffers.size()) - 1;
}

EventId RankBuilder::when_done(Instruction& instruction) {
  if (instruction.signals.empty()) instruction.signals.push_back(program_.events++);
  return instruction.signals.front();
}

std::vector<EventId> RankBuilder::when_complete(BufferId output) {
  for (Segment& segment : program_.segments) {
    if (segment.over != Segment::Over::packs) continue;
    for (Instruction& instruction : segment.instructions) {
      if (std::ranges::find(instruction.outputs, output) != instruction.outputs.end())
        return {when_done(instruction)};
    }
  }
  return {};
}

// A thread runs the last instruction for its last pack after all others.
std::vector<EventId> RankBuilder::when_packs_are_done() {
  const auto last = std::ranges::find(program_.segments.rbegin(), program_.segments.rend(),
                                      Segment::Over::packs, &Segment::over);
  check(last != program_.segments.rend(), "a program without packs");
  std::vector<Instruction>& list = last->instructions;
  return list.empty() ? std::vector<EventId>{} : std::vector{when_done(list.back())};
}

void RankBuilder::send(int to, const Region& region, std::vector<EventId> waits) {
  program_.exchange.push_back({Send{to, region}, std::move(waits)});
}

EventId RankBuilder::receive(int from, const Region& region, std::vector<EventId> waits) {
  program_.exchange.push_back({Receive{from, region}, std::move(waits), {program_.events}});
  return program_.events++;
}

EventId RankBuilder::join(Join join, std::vector<EventId> waits) {
  program_.exchange.push_back({std::move(join), std::move(waits), {program_.events}});
  return program_.events++;
}

}  // namespace lockstep::program
