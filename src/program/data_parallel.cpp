#include "program/data_parallel.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/divide.h"
#include "base/error.h"
#include "plan/deal.h"
#include "program/hide_meetings.h"
#include "program/looks.h"
#include "program/meet.h"
#include "program/rank_builder.h"
#include "program/sums.h"

namespace lockstep::program {
namespace {

using exchange::Shard;

// One complete subtree of the pack tree: the `row`-th that `rank` holds.
struct Subtree {
  int rank, row;
};

class Splitter {
 public:
  Splitter(const Program& step, const DataPlan& plan, int packs)
      : step_(step),
        plan_(plan),
        shards_(shards_of(step, plan)),
        waits_(static_cast<std::size_t>(plan.ranks)) {
    for (const Sum& sum : step.sums)
      sizes_.push_back(step.buffers[static_cast<std::size_t>(sum.partial)].elements);
    const std::vector<arithmetic::PackRange> shares = program::shares_of(plan, packs);
    std::vector<arithmetic::PackRange> all;
    for (int rank = 0; rank < plan.ranks; ++rank) {
      RankBuilder& builder = ranks_.emplace_back(step);
      builder.program().packs = packs;
      for (Segment& segment : builder.program().segments) {
        if (segment.over == Segment::Over::packs) segment.packs = shares[static_cast<std::size_t>(rank)];
      }
      if (plan.ranks > 1) inboxes_.push_back(builder.add_buffer("inbox", Role::inbox, 0));
      const std::vector<arithmetic::PackRange> held =
          arithmetic::cover(packs, shares[static_cast<std::size_t>(rank)]);
      for (int row = 0; row < static_cast<int>(held.size()); ++row) subtrees_.push_back({rank, row});
      all.insert(all.end(), held.begin(), held.end());
    }
    pairs_ = arithmetic::join_pairs(packs, {0, packs}, all);
    deal_tables(ranks_);
  }

  std::vector<Program> split() {
    exchange_sums();
    if (step_.purpose == Purpose::training || step_.purpose == Purpose::timing) train();
    std::vector<Program> programs;
    programs.reserve(ranks_.size());
    for (RankBuilder& rank : ranks_) {
      Program& program = programs.emplace_back(std::move(rank.program()));
      program.tables.clear();
      program.meetings.clear();
      program.running.clear();
      check_program(program);
    }
    return programs;
  }

 private:
  // A shard whose subtrees are on their way to its owner.
  struct PendingJoin {
    Shard shard;
    Join join;
    std::vector<EventId> waits;
  };

  RankBuilder& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  std::vector<EventId>& waits_of(int rank) { return waits_[static_cast<std::size_t>(rank)]; }
  const Sum& sum_of(const Shard& shard) const {
    return step_.sums[static_cast<std::size_t>(shard.range.sum)];
  }
  static Region part_of(BufferId buffer, const Shard& shard) {
    return {buffer, shard.range.first, shard.range.count};
  }
  // With a sharded optimizer the gradient of a parameter stays with its owner.
  bool stays(const Shard& shard) const { return plan_.shard_optimizer && sum_of(shard).parameter >= 0; }

  // A bucket's results go back while the next bucket's sums come in. Meetings, which the work waits for,
  // stand before the joins of the sums that were complete before them.
  void exchange_sums() {
    const std::vector<exchange::Bucket> buckets = exchange::buckets_of(sizes_, plan_.smallest_bucket);
    std::vector<PendingJoin> pending;
    std::size_t met = 0;
    for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
      const std::size_t segment = segment_of(buckets[bucket].last - 1);
      for (; met < step_.meetings.size() && step_.meetings[met].segment < segment; ++met) {
        add_meeting(step_.meetings[met], met, ranks_, waits_);
        finish(std::exchange(pending, {}));
      }
      std::vector<PendingJoin> arriving = collect(buckets[bucket]);
      if (bucket + 1 == buckets.size()) collect_tally();
      if (met == step_.meetings.size()) finish(std::exchange(pending, {}));
      std::ranges::move(arriving, std::back_inserter(pending));
    }
    check(met == step_.meetings.size(), "statistics meet behind the last sum");
    finish(std::move(pending));
    if (step_.tally >= 0) finish_tally();
  }

  // Where the sum is complete.
  std::size_t segment_of(int sum) const {
    const BufferId partial = step_.sums[static_cast<std::size_t>(sum)].partial;
    const auto makes = [&](const Instruction& instruction) {
      return std::ranges::find(instruction.outputs, partial) != instruction.outputs.end();
    };
    const auto segment = std::ranges::find_if(step_.segments, [&](const Segment& candidate) {
      return std::ranges::any_of(candidate.instructions, makes);
    });
    return static_cast<std::size_t>(segment - step_.segments.begin());
  }

  // Subtrees to their owners. A bucket starts when the last of its sums is complete: the others are complete
  // before.
  std::vector<PendingJoin> collect(exchange::Bucket bucket) {
    std::vector<std::vector<EventId>> complete;
    complete.reserve(ranks_.size());
    for (RankBuilder& rank : ranks_)
      complete.push_back(rank.when_complete(step_.sums[static_cast<std::size_t>(bucket.last - 1)].partial));
    std::vector<PendingJoin> joins;
    for (const Shard& shard : shards_) {
      if (shard.range.sum < bucket.first || shard.range.sum >= bucket.last || shard.range.count == 0)
        continue;
      PendingJoin pending{shard,
                          {sum_of(shard).op, {}, pairs_, part_of(sum_of(shard).gradient, shard)},
                          complete[static_cast<std::size_t>(shard.owner)]};
      for (const Subtree& subtree : subtrees_) {
        Region held = part_of(sum_of(shard).partial, shard);
        held.row = subtree.row;
        if (subtree.rank == shard.owner) {
          pending.join.inputs.push_back(held);
          continue;
        }
        const Region inbox = take_inbox(shard.owner, shard.range.count);
        pending.join.inputs.push_back(inbox);
        at(subtree.rank).send(shard.owner, held, complete[static_cast<std::size_t>(subtree.rank)]);
        pending.waits.push_back(at(shard.owner).receive(subtree.rank, inbox));
      }
      joins.push_back(std::move(pending));
    }
    return joins;
  }

  Region take_inbox(int rank, std::size_t count) {
    const BufferId inbox = inboxes_[static_cast<std::size_t>(rank)];
    std::size_t& used = at(rank).program().buffers[static_cast<std::size_t>(inbox)].elements;
    return {inbox, std::exchange(used, used + round_up(count, exchange::kLineFloats)), count};
  }

  // Owners join; the results go to all ranks. The work that reads gradients waits for the last join and for
  // what arrives.
  void finish(std::vector<PendingJoin> joins) {
    for (PendingJoin& pending : joins)
      waits_of(pending.shard.owner)
          .push_back(at(pending.shard.owner).join(std::move(pending.join), std::move(pending.waits)));
    for (const PendingJoin& pending : joins) {
      if (!stays(pending.shard)) hand_out(pending.shard, sum_of(pending.shard).gradient);
    }
  }

  void hand_out(const Shard& shard, BufferId buffer, const std::vector<std::vector<EventId>>& waits = {}) {
    const auto waits_at = [&](int rank) {
      return waits.empty() ? std::vector<EventId>{} : waits[static_cast<std::size_t>(rank)];
    };
    const Region region = part_of(buffer, shard);
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      if (rank == shard.owner) continue;
      at(shard.owner).send(rank, region, waits_at(shard.owner));
      waits_of(rank).push_back(at(rank).receive(shard.owner, region, waits_at(rank)));
    }
  }

  // The first rank adds the counts of all. They go with the last sums: a GPU has them when all its packs are
  // done.
  void collect_tally() {
    if (step_.tally < 0 || plan_.ranks == 1) return;
    const std::size_t counts = at(0).elements(step_.tally);
    BufferId inbox = -1;  // only the first rank has one, but buffers are numbered alike on all ranks
    for (int rank = plan_.ranks; rank-- > 0;)
      inbox = at(rank).add_buffer("tally.inbox", Role::counts, rank == 0 ? counts * (ranks_.size() - 1) : 0);
    tally_.inputs.push_back(at(0).whole(step_.tally));
    tally_waits_ = at(0).when_packs_are_done();
    for (int rank = 1; rank < plan_.ranks; ++rank) {
      const Region place{inbox, static_cast<std::size_t>(rank - 1) * counts, counts};
      at(rank).send(0, at(rank).whole(step_.tally), at(rank).when_packs_are_done());
      tally_waits_.push_back(at(0).receive(rank, place));
      tally_.inputs.push_back(place);
      tally_.pairs.push_back({0, rank});
    }
  }

  void finish_tally() {
    if (plan_.ranks == 1) return;
    for (RankBuilder& rank : ranks_)
      rank.program().tally = rank.add_buffer("tally.all", Role::counts, rank.elements(step_.tally));
    tally_.op = Join::Operator::integer_add;
    tally_.output = at(0).whole(at(0).program().tally);
    at(0).join(std::move(tally_), std::move(tally_waits_));
    for (int rank = 1; rank < plan_.ranks; ++rank) {
      at(0).send(rank, at(0).whole(at(0).program().tally));
      at(rank).receive(0, at(rank).whole(at(rank).program().tally));
    }
  }

  // ---- what comes after the gradients

  void train() {
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      add_states(rank);
      add_check(rank);
    }
    if (plan_.shard_optimizer) agree();
    for (int rank = 0; rank < plan_.ranks; ++rank) add_update(rank);
    if (plan_.shard_optimizer) hand_out_parameters();
    add_looks(ranks_, waits_);
  }

  // Whole states of each parameter or, with a sharded optimizer, of the part that the rank owns.
  void add_states(int rank) {
    RankBuilder& builder = at(rank);
    Program& program = builder.program();
    const std::span<const std::string_view> states = arithmetic::update_rule(program.rule).states;
    for (std::size_t i = 0; i < program.sums.size(); ++i) {
      Sum& sum = program.sums[i];
      if (sum.parameter < 0) continue;
      const Part owned = owned_part(rank, static_cast<int>(i));
      sum.states_first = owned.first;
      for (const std::string_view state : states)
        sum.states.push_back(builder.add_buffer(
            fmt::format("{}.{}", program.buffers[static_cast<std::size_t>(sum.parameter)].name, state),
            Role::state, owned.count));
    }
    for (StatePart& part : program.state) {
      if (part.buffer >= 0) continue;
      const Sum& sum =
          *std::ranges::find(program.sums, program.parameters[part.tensor.parameter], &Sum::parameter);
      part.buffer =
          sum.states[static_cast<std::size_t>(std::ranges::find(states, part.tensor.state) - states.begin())];
      part.first = sum.states_first;
    }
  }

  Part owned_part(int rank, int sum) const {
    if (!plan_.shard_optimizer) return {0, sizes_[static_cast<std::size_t>(sum)]};
    for (const Shard& shard : shards_) {
      if (shard.range.sum == sum && shard.owner == rank) return {shard.range.first, shard.range.count};
    }
    return {};
  }

  // The loss and all gradients that the rank updates by.
  void add_check(int rank) {
    RankBuilder& builder = at(rank);
    Program& program = builder.program();
    program.verdict = builder.add_buffer("verdict", Role::counts, 1);
    Check check;
    Instruction instruction{{}, "", {}, {program.verdict}};
    const auto add = [&](const Sum& sum, Part part) {
      check.parts.push_back(part);
      instruction.inputs.push_back(sum.gradient);
    };
    if (plan_.shard_optimizer) {
      for (const Shard& shard : shards_) {
        if (shard.owner == rank) add(sum_of(shard), {shard.range.first, shard.range.count});
      }
    } else {
      for (std::size_t i = 0; i < sizes_.size(); ++i) add(step_.sums[i], {0, sizes_[i]});
    }
    instruction.operation = std::move(check);
    program.segments.push_back(
        {"check", Segment::Over::elements, {std::move(instruction)}, {}, waits_of(rank)});
    waits_of(rank).clear();
  }

  // Each rank knows about its own part; the verdict of all is the same everywhere.
  void agree() {
    std::vector<Join> joins(ranks_.size());
    std::vector<EventId> checked;
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      RankBuilder& builder = at(rank);
      checked.push_back(builder.when_done(builder.program().segments.back().instructions.back()));
      joins[static_cast<std::size_t>(rank)].op = Join::Operator::both;
      joins[static_cast<std::size_t>(rank)].inputs.push_back(builder.whole(builder.program().verdict));
      if (plan_.ranks > 1)
        verdict_inboxes_.push_back(builder.add_buffer("verdict.inbox", Role::counts, ranks_.size()));
    }
    for (int from = 0; from < plan_.ranks; ++from) {
      for (int to = 0; to < plan_.ranks; ++to) {
        if (to == from) continue;
        Join& join = joins[static_cast<std::size_t>(to)];
        const Region place{verdict_inboxes_[static_cast<std::size_t>(to)], static_cast<std::size_t>(from), 1};
        at(from).send(to, at(from).whole(at(from).program().verdict),
                      {checked[static_cast<std::size_t>(from)]});
        waits_of(to).push_back(at(to).receive(from, place));
        join.pairs.push_back({0, static_cast<int>(join.inputs.size())});
        join.inputs.push_back(place);
      }
    }
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      RankBuilder& builder = at(rank);
      builder.program().verdict = builder.add_buffer("verdict.all", Role::counts, 1);
      Join& join = joins[static_cast<std::size_t>(rank)];
      join.output = builder.whole(builder.program().verdict);
      std::vector<EventId> waits = std::exchange(waits_of(rank), {});
      waits.push_back(checked[static_cast<std::size_t>(rank)]);
      waits_of(rank).push_back(builder.join(std::move(join), std::move(waits)));
    }
  }

  void add_update(int rank) {
    Program& program = at(rank).program();
    std::vector<Instruction> updates;
    for (const BufferId parameter : program.parameters) {
      const auto sum = std::ranges::find(program.sums, parameter, &Sum::parameter);
      if (sum == program.sums.end()) continue;
      const Part part = owned_part(rank, static_cast<int>(sum - program.sums.begin()));
      if (part.count == 0) continue;
      Instruction update{Update{program.rule, part, sum->decays},
                         program.buffers[static_cast<std::size_t>(parameter)].name,
                         {program.verdict, parameter, sum->gradient},
                         {parameter}};
      update.inputs.insert(update.inputs.end(), sum->states.begin(), sum->states.end());
      update.outputs.insert(update.outputs.end(), sum->states.begin(), sum->states.end());
      updates.push_back(std::move(update));
    }
    for (Instruction running : program.running) {
      running.inputs.insert(running.inputs.begin(), program.verdict);
      updates.push_back(std::move(running));
    }
    program.segments.push_back(
        {"update", Segment::Over::elements, std::move(updates), {}, std::exchange(waits_of(rank), {})});
  }

  // Others may write a rank's parameters when its packs no longer read them.
  void hand_out_parameters() {
    std::vector<std::vector<EventId>> ready;
    for (RankBuilder& rank : ranks_) {
      ready.push_back(rank.when_packs_are_done());
      std::vector<Instruction>& updates = rank.program().segments.back().instructions;
      if (!updates.empty()) ready.back().push_back(rank.when_done(updates.back()));
    }
    for (const Shard& shard : shards_) {
      if (stays(shard) && shard.range.count > 0) hand_out(shard, sum_of(shard).parameter, ready);
    }
  }

  const Program& step_;
  const DataPlan& plan_;
  const std::vector<Shard> shards_;
  std::vector<std::size_t> sizes_;  // of the sums
  std::vector<Subtree> subtrees_;   // of all ranks, in the order of the packs
  std::vector<arithmetic::JoinPair> pairs_;
  std::vector<RankBuilder> ranks_;
  std::vector<BufferId> inboxes_, verdict_inboxes_;  // by rank
  std::vector<std::vector<EventId>> waits_;          // by rank: what the next segment waits for
  Join tally_;                                       // on the first rank
  std::vector<EventId> tally_waits_;
};

}  // namespace

std::vector<arithmetic::PackRange> shares_of(const DataPlan& plan, int packs) {
  return plan::deal_packs({0, packs}, plan.ranks, plan.shares);
}

std::vector<Shard> shards_of(const Program& step, const DataPlan& plan) {
  std::vector<std::size_t> sizes;
  sizes.reserve(step.sums.size());
  for (const Sum& sum : step.sums)
    sizes.push_back(step.buffers[static_cast<std::size_t>(sum.partial)].elements);
  const exchange::Kind& kind = plan.exchange != nullptr ? *plan.exchange : exchange::kinds().front();
  return kind.shards(sizes, plan.ranks);
}

std::vector<Program> data_parallel(const Program& step, const DataPlan& plan, int packs) {
  const bool waits = plan.ranks > 1 && !step.meetings.empty();
  const Program arranged = waits ? hide_meetings(step) : step;
  std::vector<Program> programs = Splitter(arranged, plan, packs).split();
  check_sums(programs);
  return programs;
}

}  // namespace lockstep::program
