#include "program/meet.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace lockstep::program {
namespace {

using arithmetic::PackRange;

struct GroupShare {
  int rank = 0;
  PackRange packs = {};  // of the group
};

struct Group {
  int number = 0;
  PackRange packs = {};
  std::vector<GroupShare> shares = {};  // by rank, none is empty
  int owner = 0;

  bool has(int rank) const { return std::ranges::find(shares, rank, &GroupShare::rank) != shares.end(); }
};

PackRange packs_of_group(const PackGroups& groups, int group, int all) {
  if (groups.packs == 0) return {0, all};
  return {group * groups.packs, std::min((group + 1) * groups.packs, all)};
}

// Groups that the rank has packs of: [first, last).
std::pair<int, int> groups_of(const PackGroups& groups, const PackRange& packs) {
  return packs.size() == 0 ? std::pair(0, 0)
                           : std::pair(groups.of(packs.first), groups.of(packs.last - 1) + 1);
}

// Waits for the statistics. Before it may stand work for meanwhile.
Segment& segment_behind(Program& program, const Meeting& meeting) {
  const auto found =
      std::ranges::find(program.segments.begin() + static_cast<std::ptrdiff_t>(meeting.segment),
                        program.segments.end(), Segment::Over::elements, &Segment::over);
  check(found != program.segments.end(), "nothing waits for statistics that meet");
  return *found;
}

std::vector<Group> groups_that_meet(const Meeting& meeting, std::size_t number,
                                    std::vector<RankBuilder>& ranks) {
  const int all = ranks.front().program().packs;
  std::vector<Group> groups(static_cast<std::size_t>(meeting.groups.count(all)));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    Group& group = groups[g];
    group.number = static_cast<int>(g);
    group.packs = packs_of_group(meeting.groups, group.number, all);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const PackRange held = packs_of(ranks[rank].program()).packs;
      const PackRange both{std::max(held.first, group.packs.first), std::min(held.last, group.packs.last)};
      if (both.size() > 0) group.shares.push_back({static_cast<int>(rank), both});
    }
    group.owner = group.shares[(number + g) % group.shares.size()].rank;
  }
  return groups;
}

class Expansion {
 public:
  Expansion(const Meeting& meeting, std::vector<RankBuilder>& ranks)
      : meeting_(meeting), ranks_(ranks), row_(row_of(ranks.front(), meeting)) {}

  // Rows to the owner of their group, which joins them.
  void collect(const Group& group) {
    RankBuilder& owner = at(group.owner);
    std::vector<EventId> waits;
    for (const GroupShare& share : group.shares) {
      const std::vector<EventId> made = at(share.rank).when_complete(meeting_.by_pack);
      if (share.rank == group.owner) {
        waits.insert(waits.end(), made.begin(), made.end());
        continue;
      }
      const Region rows = rows_of(meeting_.by_pack, share.packs);
      at(share.rank).send(group.owner, rows, made);
      waits.push_back(owner.receive(share.rank, rows));
    }
    joins_.push_back(std::move(waits));
  }

  void join(const Group& group) {
    std::vector<PackRange> leaves;
    Join join{.op = meeting_.op, .output = row_of_group(group)};
    leaves.reserve(static_cast<std::size_t>(group.packs.size()));
    join.inputs.reserve(leaves.capacity());
    for (int pack = group.packs.first; pack < group.packs.last; ++pack) {
      join.inputs.push_back(rows_of(meeting_.by_pack, {pack, pack + 1}));
      leaves.push_back({pack - group.packs.first, pack + 1 - group.packs.first});
    }
    join.pairs = arithmetic::join_pairs(group.packs.size(), {0, group.packs.size()}, leaves);
    std::vector<EventId>& waits = joins_[static_cast<std::size_t>(group.number)];
    next_waits(group.owner).push_back(at(group.owner).join(std::move(join), std::move(waits)));
  }

  void hand_out(const Group& group) {
    for (const GroupShare& share : group.shares) {
      if (share.rank == group.owner) continue;
      at(group.owner).send(share.rank, row_of_group(group));
      next_waits(share.rank).push_back(at(share.rank).receive(group.owner, row_of_group(group)));
    }
  }

  // To ranks that have no packs of these groups, which follow each other and have one owner.
  void hand_to_others(const Group& first, const Group& last, std::vector<std::vector<EventId>>& later) {
    const Region rows = rows_of(meeting_.by_group, {first.number, last.number + 1});
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
      if (first.has(rank)) continue;
      at(first.owner).send(rank, rows);
      later[static_cast<std::size_t>(rank)].push_back(at(rank).receive(first.owner, rows));
    }
  }

 private:
  static std::size_t row_of(RankBuilder& rank, const Meeting& meeting) {
    return rank.elements(meeting.by_pack) / static_cast<std::size_t>(rank.program().packs);
  }
  RankBuilder& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  std::vector<EventId>& next_waits(int rank) { return segment_behind(at(rank).program(), meeting_).waits; }
  Region rows_of(BufferId buffer, const PackRange& rows) const {
    return {buffer, static_cast<std::size_t>(rows.first) * row_,
            static_cast<std::size_t>(rows.size()) * row_};
  }
  Region row_of_group(const Group& group) const {
    return rows_of(meeting_.by_group, {group.number, group.number + 1});
  }

  const Meeting& meeting_;
  std::vector<RankBuilder>& ranks_;
  const std::size_t row_;                    // elements
  std::vector<std::vector<EventId>> joins_;  // by group: what its join waits for
};

bool lie_alike(const Group& a, const Group& b) {
  return a.owner == b.owner &&
         std::ranges::equal(a.shares, b.shares, {}, &GroupShare::rank, &GroupShare::rank);
}

}  // namespace

void deal_tables(std::vector<RankBuilder>& ranks) {
  for (RankBuilder& rank : ranks) {
    Program& program = rank.program();
    for (const Table& table : program.tables)
      program.buffers[static_cast<std::size_t>(table.buffer)].elements *=
          static_cast<std::size_t>(table.groups.count(program.packs));
    const PackRange packs = packs_of(program).packs;
    for (const Meeting& meeting : program.meetings) {
      const auto [first, last] = groups_of(meeting.groups, packs);
      std::vector<Instruction>& between = segment_behind(program, meeting).instructions;
      if (first == last) between.clear();
      for (Instruction& instruction : between) {
        std::visit(
            [first = first, last = last](auto& operation) {
              if constexpr (requires { operation.first, operation.last; }) {
                operation.first = first;
                operation.last = last;
              }
            },
            instruction.operation);
      }
    }
    for (Instruction& instruction : program.running) {
      const auto meeting =
          std::ranges::find(program.meetings, instruction.inputs.front(), &Meeting::by_group);
      std::get<NormRunning>(instruction.operation).groups = meeting->groups.count(program.packs);
    }
  }
}

void add_meeting(const Meeting& meeting, std::size_t number, std::vector<RankBuilder>& ranks,
                 std::vector<std::vector<EventId>>& later) {
  const std::vector<Group> groups = groups_that_meet(meeting, number, ranks);
  Expansion expansion(meeting, ranks);
  for (const Group& group : groups) expansion.collect(group);
  for (const Group& group : groups) expansion.join(group);
  for (const Group& group : groups) expansion.hand_out(group);
  if (!meeting.to_all_ranks) return;
  for (std::size_t first = 0, next = 0; first < groups.size(); first = next) {
    for (next = first + 1; next < groups.size() && lie_alike(groups[first], groups[next]);) ++next;
    expansion.hand_to_others(groups[first], groups[next - 1], later);
  }
}

}  // namespace lockstep::program
