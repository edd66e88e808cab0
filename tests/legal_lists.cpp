#include "legal_lists.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace lockstep::random_program {
namespace {

constexpr int kAllRows = 1 << 20;

}  // namespace

using program::EventId;
using program::ExchangeInstruction;
using program::Join;
using program::Program;
using program::Region;
using program::Segment;

void LegalLists::add(program::RankBuilder rank) { ranks_.push_back({std::move(rank)}); }

std::vector<Program> LegalLists::programs() {
  std::vector<Program> programs;
  programs.reserve(ranks_.size());
  for (ListedRank& rank : ranks_) programs.push_back(rank.builder.program());
  return programs;
}

Region LegalLists::all_rows(int rank, program::BufferId id) {
  Region region = at(rank).whole(id);
  region.rows = kAllRows;
  return region;
}

// The event of an operation that is done.
EventId LegalLists::event_of(int rank, const Access& access) {
  Program& program = at(rank).program();
  std::vector<EventId>& signals = access.work
                                      ? program.segments[access.segment].instructions[access.index].signals
                                      : program.exchange[access.index].signals;
  if (signals.empty()) signals.push_back(program.events++);
  return signals.front();
}

std::vector<EventId> LegalLists::waits_for(int rank, const std::vector<Access>& wanted, bool for_work) {
  std::vector<EventId> waits;
  for (const Access& before : ranks_[static_cast<std::size_t>(rank)].accesses) {
    const bool in_order = for_work ? before.work : !before.work && !before.message;
    if (in_order) continue;
    for (const Access& access : wanted) {
      if ((before.writes || access.writes) && before.region.overlaps(access.region)) {
        waits.push_back(event_of(rank, before));
        break;
      }
    }
  }
  return waits;
}

void LegalLists::remember(int rank, const std::vector<Access>& accesses) {
  std::vector<Access>& all = ranks_[static_cast<std::size_t>(rank)].accesses;
  all.insert(all.end(), accesses.begin(), accesses.end());
}

void LegalLists::append_work(int rank, program::Instruction instruction, arithmetic::PackRange packs,
                             Opens opens) {
  std::vector<Access> accesses;
  for (const program::BufferId id : instruction.inputs) accesses.push_back({all_rows(rank, id), false, true});
  for (const program::BufferId id : instruction.outputs) accesses.push_back({all_rows(rank, id), true, true});
  const std::vector<EventId> waits = waits_for(rank, accesses, true);
  std::vector<Segment>& segments = at(rank).program().segments;
  // What an open segment does not wait for needs a new one.
  const bool covered = !segments.empty() && std::ranges::all_of(waits, [&](EventId event) {
    return std::ranges::find(segments.back().waits, event) != segments.back().waits.end();
  });
  if (!covered || opens == Opens::always)
    segments.push_back({fmt::format("packs {}", segments.size()), Segment::Over::packs, {}, packs, waits});
  for (Access& access : accesses) {
    access.segment = segments.size() - 1;
    access.index = segments.back().instructions.size();
  }
  segments.back().instructions.push_back(std::move(instruction));
  remember(rank, accesses);
}

void LegalLists::append_exchange(int rank, ExchangeInstruction instruction, std::vector<Access> accesses) {
  instruction.waits = waits_for(rank, accesses, false);
  std::vector<ExchangeInstruction>& list = at(rank).program().exchange;
  for (Access& access : accesses) access.index = list.size();
  list.push_back(std::move(instruction));
  remember(rank, accesses);
}

void LegalLists::append_message(int from, const Region& source, int to, const Region& target) {
  append_exchange(from, {program::Send{to, source}}, {{source, false, false, true}});
  append_exchange(to, {program::Receive{from, target}}, {{target, true, false, true}});
}

void LegalLists::append_join(int rank, Join join) {
  const bool counts = join.op == Join::Operator::integer_add || join.op == Join::Operator::both;
  std::vector<Access> accesses;
  for (const Region& input : join.inputs) accesses.push_back({input, !counts});  // floats are used up
  accesses.push_back({join.output, true});
  append_exchange(rank, {std::move(join)}, std::move(accesses));
}

}  // namespace lockstep::random_program
