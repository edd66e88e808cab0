#include "program/looks.h"

#include <utility>

#include <fmt/format.h>

namespace lockstep::program {
namespace {

constexpr std::size_t kNumbersOfALook = 5;  // for each parameter

// What every rank saw of its replica, to the first rank. The look is the last instruction of the work.
void send_looks(std::vector<RankBuilder>& ranks) {
  RankBuilder& first = ranks.front();
  if (first.program().received_looks.empty()) {
    first.program().received_looks.push_back(first.program().looks);
    for (std::size_t rank = 1; rank < ranks.size(); ++rank)
      first.program().received_looks.push_back(first.add_buffer(fmt::format("looks.{}", rank), Role::counts,
                                                                first.elements(first.program().looks)));
  }
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    RankBuilder& from = ranks[rank];
    from.send(0, from.whole(from.program().looks),
              {from.when_done(from.program().segments.back().instructions.back())});
    first.receive(static_cast<int>(rank), first.whole(first.program().received_looks[rank]));
  }
}

}  // namespace

void add_looks(std::vector<RankBuilder>& ranks, std::vector<std::vector<EventId>>& waits) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    RankBuilder& builder = ranks[rank];
    Program& program = builder.program();
    program.looks = builder.add_buffer("looks", Role::counts, kNumbersOfALook * program.parameters.size());
    Instruction look{Look{}, "", {program.verdict}, {program.looks}};
    look.inputs.insert(look.inputs.end(), program.parameters.begin(), program.parameters.end());
    program.segments.push_back(
        {"look", Segment::Over::host, {std::move(look)}, {}, std::exchange(waits[rank], {})});
  }
  send_looks(ranks);
}

std::vector<Program> examination_of(std::span<const Program> programs) {
  std::vector<RankBuilder> ranks;
  for (const Program& program : programs) {
    Program looking = program;
    looking.purpose = Purpose::examination;
    looking.segments = {{"look", Segment::Over::host, {program.segments.back().instructions.back()}}};
    looking.segments.back().instructions.back().signals.clear();
    looking.exchange.clear();
    looking.events = 0;
    ranks.emplace_back(std::move(looking));
  }
  send_looks(ranks);
  std::vector<Program> result;
  result.reserve(ranks.size());
  for (RankBuilder& rank : ranks) result.push_back(std::move(rank.program()));
  return result;
}

}  // namespace lockstep::program
