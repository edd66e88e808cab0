// The programs of data parallelism: what they come to under any interleaving, and what they cost.
#include "program/data_parallel.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/zoo.h"
#include "program/compile.h"
#include "program/looks.h"
#include "program/order.h"
#include "program/simulation_for_test.h"

namespace lockstep::program {
namespace {

using exchange::Kind;
using exchange::Shard;

// A step with sums of these sizes, the first of which is the loss, and nothing else.
Program step_of(const std::vector<std::size_t>& sizes) {
  Program step;
  Segment packs{"packs", Segment::Over::packs, {}};
  step.buffers = {{"x", Role::activation, 1}, {"tally", Role::counts, 4}, {"labels", Role::labels, 1}};
  step.tally = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto partial = static_cast<BufferId>(step.buffers.size());
    step.buffers.push_back({fmt::format("{}.partial", i), Role::partial, sizes[i]});
    step.buffers.push_back({fmt::format("{}.gradient", i), Role::gradient, sizes[i]});
    step.sums.push_back({.partial = partial, .gradient = partial + 1});
    if (i == 0) {
      step.loss = partial + 1;
      packs.instructions.push_back({Loss{2}, "loss", {0, 2}, {0, partial, 1}});
      continue;
    }
    step.buffers.push_back({fmt::format("{}", i), Role::parameter, sizes[i]});
    step.sums.back().parameter = partial + 2;
    step.parameters.push_back(partial + 2);
    step.gradients.push_back(partial + 1);
    packs.instructions.push_back({WeightGradient{}, std::to_string(i), {0, 0}, {partial, partial}});
  }
  step.segments = {std::move(packs)};
  return step;
}

std::size_t subtrees(const DataPlan& plan, int packs, int rank) {
  return arithmetic::cover(packs, shares_of(plan, packs)[static_cast<std::size_t>(rank)]).size();
}

void expect_every_element_owned_once(const Program& step, std::span<const Shard> shards, int ranks) {
  std::vector<std::size_t> next(step.sums.size(), 0);
  for (const Shard& shard : shards) {
    std::size_t& end = next[static_cast<std::size_t>(shard.range.sum)];
    EXPECT_EQ(shard.range.first, end);
    EXPECT_GE(shard.owner, 0);
    EXPECT_LT(shard.owner, ranks);
    end += shard.range.count;
  }
  for (std::size_t i = 0; i < next.size(); ++i)
    EXPECT_EQ(next[i], step.buffers[static_cast<std::size_t>(step.sums[i].partial)].elements);
}

// Every rank ends with the whole tree, whatever the interleaving.
void expect_tree_everywhere(const Program& step, const DataPlan& plan, std::span<const Program> programs,
                            unsigned seed) {
  Simulation simulation(programs, seed);
  ASSERT_TRUE(simulation.run()) << "a rank waits for ever";
  const std::string mean = "mean " + tree_text(0, programs[0].packs);
  std::string tally = "loss of 0", verdict = "check of 0";
  for (int rank = 1; rank < plan.ranks; ++rank) tally = fmt::format("({}+loss of {})", tally, rank);
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const Program& program = programs[rank];
    EXPECT_EQ(simulation.at(rank, {program.tally, 0, 4}), std::vector{tally});
    for (const Shard& shard : shards_of(step, plan)) {
      const Sum& sum = program.sums[static_cast<std::size_t>(shard.range.sum)];
      const bool updated = plan.shard_optimizer && sum.parameter >= 0;
      if (!updated || static_cast<int>(rank) == shard.owner) {
        for (const std::string& text :
             simulation.at(rank, {sum.gradient, shard.range.first, shard.range.count}))
          ASSERT_EQ(text, mean) << "rank " << rank;
      }
      if (sum.parameter < 0) continue;
      for (const std::string& text :
           simulation.at(rank, {sum.parameter, shard.range.first, shard.range.count}))
        ASSERT_EQ(text, "updated by " + mean) << "rank " << rank;
    }
  }
  for (const std::string& text : simulation.verdicts()) {
    for (int rank = 0; plan.shard_optimizer && rank < plan.ranks; ++rank)
      EXPECT_NE(text.find(fmt::format("check of {}", rank)), std::string::npos) << text;
  }
}

struct Traffic {
  std::size_t messages = 0, elements = 0;
  void add(const Region& region) {
    ++messages;
    elements += region.count;
  }
  bool operator==(const Traffic&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Traffic& t) {
  return out << t.messages << " messages, " << t.elements << " elements";
}

// What one rank sends and receives of sums in both rounds, and of counts, and what it joins.
struct Cost {
  Traffic first_out, first_in, second_out, second_in, counts_out, counts_in;
  std::size_t joined = 0;
};

Cost cost_of(const Program& program) {
  Cost cost;
  for (const ExchangeInstruction& instruction : program.exchange) {
    const auto role = [&](const Region& region) {
      return program.buffers[static_cast<std::size_t>(region.buffer)].role;
    };
    if (const auto* const send = std::get_if<Send>(&instruction.operation)) {
      (role(send->region) == Role::partial  ? cost.first_out
       : role(send->region) == Role::counts ? cost.counts_out
                                            : cost.second_out)
          .add(send->region);
    } else if (const auto* const receive = std::get_if<Receive>(&instruction.operation)) {
      (role(receive->region) == Role::inbox    ? cost.first_in
       : role(receive->region) == Role::counts ? cost.counts_in
                                               : cost.second_in)
          .add(receive->region);
    } else if (const auto& join = std::get<Join>(instruction.operation); join.op == Join::Operator::mean) {
      cost.joined += join.inputs.size() * join.output.count;
    }
  }
  return cost;
}

// The formulas of sharded.cpp and star.cpp, with what a rank really owns in place of S/k.
void expect_cost(const Program& step, const DataPlan& plan, std::span<const Program> programs) {
  const std::vector<Shard> shards = shards_of(step, plan);
  const std::size_t k = programs.size();
  std::size_t all = 0, C = 0;
  for (const Shard& shard : shards) all += shard.range.count;
  for (int rank = 0; rank < plan.ranks; ++rank) C += subtrees(plan, programs[0].packs, rank);
  for (int rank = 0; rank < plan.ranks; ++rank) {
    const std::size_t c = subtrees(plan, programs[0].packs, rank);
    std::size_t owned = 0, owned_shards = 0;
    for (const Shard& shard : shards) {
      if (shard.owner != rank) continue;
      owned += shard.range.count;
      ++owned_shards;
    }
    const std::size_t others = all - owned, others_shards = shards.size() - owned_shards;
    const Cost cost = cost_of(programs[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(cost.first_out, (Traffic{c * others_shards, c * others}));
    EXPECT_EQ(cost.first_in, (Traffic{(C - c) * owned_shards, (C - c) * owned}));
    EXPECT_EQ(cost.joined, C * owned);
    EXPECT_EQ(cost.second_out, (Traffic{(k - 1) * owned_shards, (k - 1) * owned}));
    EXPECT_EQ(cost.second_in, (Traffic{others_shards, others}));
    // The tally to the first rank and back, hashes to the first rank, verdicts to all.
    const std::size_t verdicts = plan.shard_optimizer ? k - 1 : 0;
    const bool first = rank == 0;
    EXPECT_EQ(cost.counts_out.messages, k == 1 ? 0 : first ? k - 1 + verdicts : 2 + verdicts);
    EXPECT_EQ(cost.counts_in.messages, k == 1 ? 0 : first ? 2 * (k - 1) + verdicts : 1 + verdicts);
  }
}

// Everything is checked before anything is updated: by each rank, or by the owner of each part.
void expect_all_checked(const Program& step, const DataPlan& plan, std::span<const Program> programs) {
  std::vector<std::size_t> times(step.sums.size(), 0);
  for (const Program& program : programs) {
    const auto check = std::ranges::find(program.segments, std::string("check"), &Segment::name);
    ASSERT_NE(check, program.segments.end());
    const Instruction& instruction = check->instructions.at(0);
    const std::vector<Part>& parts = std::get<Check>(instruction.operation).parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto sum =
          std::ranges::find(step.sums, instruction.inputs[i], &Sum::gradient) - step.sums.begin();
      times[static_cast<std::size_t>(sum)] += parts[i].count;
    }
    EXPECT_EQ((check + 1)->name, "update");
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::size_t elements = step.buffers[static_cast<std::size_t>(step.sums[i].partial)].elements;
    EXPECT_EQ(times[i], plan.shard_optimizer ? elements : elements * programs.size());
  }
}

void expect_all_of_it(const Program& step, const DataPlan& plan, int packs, unsigned interleavings) {
  SCOPED_TRACE(fmt::format("{}, {} packs, {} ranks{}", plan.exchange->name, packs, plan.ranks,
                           plan.shard_optimizer ? ", sharded optimizer" : ""));
  const std::vector<Program> programs = data_parallel(step, plan, packs);
  ASSERT_EQ(static_cast<int>(programs.size()), plan.ranks);
  ASSERT_NO_THROW(check_order(programs));
  ASSERT_NO_THROW(check_order(examination_of(programs)));
  expect_every_element_owned_once(step, shards_of(step, plan), plan.ranks);
  expect_cost(step, plan, programs);
  expect_all_checked(step, plan, programs);
  for (unsigned seed = 0; seed < interleavings; ++seed)
    ASSERT_NO_FATAL_FAILURE(expect_tree_everywhere(step, plan, programs, seed));
}

void expect_for_all_options(const Program& step, DataPlan plan, int packs, unsigned interleavings) {
  for (const Kind& kind : exchange::kinds()) {
    for (const bool shard : {false, true}) {
      plan.exchange = &kind;
      plan.shard_optimizer = shard;
      ASSERT_NO_FATAL_FAILURE(expect_all_of_it(step, plan, packs, interleavings));
    }
  }
}

TEST(DataParallelPrograms, EveryRankGetsThePackTreeUnderAnyInterleaving) {
  const Program step = step_of({1, 10, 1023, 1024, 5000, 40000});
  for (const int packs : {1, 2, 3, 5, 7, 8, 13, 16, 20}) {
    for (int ranks = 1; ranks <= 9; ++ranks)
      ASSERT_NO_FATAL_FAILURE(expect_for_all_options(step, {.ranks = ranks}, packs, 1));
  }
}

TEST(DataParallelPrograms, TheOrderOfTheSumsAndTheSizeOfBucketsAreFree) {
  for (const std::size_t elements : std::vector<std::size_t>{1, 10, 1023, 1024, 5000, 40000}) {
    for (const std::size_t bucket : {std::size_t{1}, std::size_t{2000}, exchange::kSmallestBucket}) {
      ASSERT_NO_FATAL_FAILURE(
          expect_for_all_options(step_of({1, elements}), {.ranks = 3, .smallest_bucket = bucket}, 7, 2));
      ASSERT_NO_FATAL_FAILURE(expect_for_all_options(step_of({40000, elements, 20000, elements}),
                                                     {.ranks = 4, .smallest_bucket = bucket}, 9, 2));
    }
  }
}

TEST(DataParallelPrograms, OfLeNetAndOfUnevenShares) {
  const Program step = compile_training(model::lenet(), {.rule = arithmetic::UpdateKind::momentum});
  std::vector<std::size_t> sizes;
  for (const Sum& sum : step.sums)
    sizes.push_back(step.buffers[static_cast<std::size_t>(sum.partial)].elements);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 1280, 10, 102400, 128, 25000, 50, 180, 20}));
  EXPECT_EQ(exchange::buckets_of(sizes), (std::vector<exchange::Bucket>{{0, 4}, {4, 9}}));
  for (const int packs : {1, 16}) {
    for (const int ranks : {1, 2, 3, 5, 8}) {
      std::vector<double> shares;
      for (int rank = 0; rank < ranks; ++rank) shares.push_back(1 + rank % 3);
      for (const Kind& kind : exchange::kinds()) {
        for (const bool shard : {false, true}) {
          const DataPlan plan{.ranks = ranks, .exchange = &kind, .shard_optimizer = shard, .shares = shares};
          const std::vector<Program> programs = data_parallel(step, plan, packs);
          ASSERT_NO_THROW(check_order(programs));
          expect_cost(step, plan, programs);
        }
      }
    }
  }
}

TEST(DataParallelPrograms, AnUpdateHasItsRuleAndTheRulesStates) {
  for (const arithmetic::UpdateRule& rule : arithmetic::kUpdateRules) {
    const Program p = data_parallel(compile_training(model::mlp(), {.rule = rule.kind}), {}, 16)[0];
    EXPECT_EQ(p.rule, rule.kind);
    const auto updates = std::ranges::find(p.segments, std::string("update"), &Segment::name);
    ASSERT_NE(updates, p.segments.end());
    for (std::size_t i = 0; i < p.parameters.size(); ++i) {
      const Instruction& update = updates->instructions[i];
      EXPECT_EQ(std::get<Update>(update.operation).rule, rule.kind);
      EXPECT_EQ(std::get<Update>(update.operation).decays, update.layer.ends_with(".weight")) << update.layer;
      std::vector<BufferId> inputs{p.verdict, p.parameters[i], p.gradients[i]}, outputs{p.parameters[i]};
      for (std::size_t s = 1; s <= rule.states.size(); ++s) {
        inputs.push_back(p.state[s * p.parameters.size() + i].buffer);
        outputs.push_back(inputs.back());
      }
      EXPECT_EQ(update.inputs, inputs);
      EXPECT_EQ(update.outputs, outputs);
    }
  }
}

TEST(DataParallelPrograms, TheStateIsAllParametersThenAllStates) {
  const Program p =
      data_parallel(compile_training(model::mlp(), {.rule = arithmetic::UpdateKind::momentum}), {}, 16)[0];
  std::vector<std::string> names;
  for (const StatePart& part : p.state) {
    names.push_back(part.tensor.name);
    const Buffer& buffer = p.buffers[static_cast<std::size_t>(part.buffer)];
    EXPECT_EQ(buffer.name, part.tensor.name);
    EXPECT_EQ(buffer.elements, part.tensor.elements());
    EXPECT_EQ(part.first, 0U);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias",
                                      "linear1.weight.velocity", "linear1.bias.velocity",
                                      "linear2.weight.velocity", "linear2.bias.velocity"}));
}

TEST(DataParallelPrograms, RefusesAnUpdateOfAnotherRuleOrWithoutItsStates) {
  Program p =
      data_parallel(compile_training(model::mlp(), {.rule = arithmetic::UpdateKind::momentum}), {}, 16)[0];
  Instruction& update = std::ranges::find(p.segments, std::string("update"), &Segment::name)->instructions[0];
  const Instruction right = update;
  update.inputs.pop_back();
  EXPECT_THROW(check_program(p), Error);
  update = right;
  update.outputs.pop_back();
  EXPECT_THROW(check_program(p), Error);
  update = right;
  update.operation = Update{arithmetic::UpdateKind::sgd};
  update.inputs.pop_back();
  update.outputs.pop_back();
  EXPECT_THROW(check_program(p), Error);
  update = right;
  check_program(p);
}

TEST(DataParallelPrograms, SixteenPacksOverThreeRanksAreSevenSubtrees) {
  EXPECT_EQ(subtrees({.ranks = 3}, 16, 0), 2U);
  EXPECT_EQ(subtrees({.ranks = 3}, 16, 1), 3U);
  EXPECT_EQ(subtrees({.ranks = 3}, 16, 2), 2U);
}

TEST(DataParallelPrograms, EqualSharesOfAPowerOfTwoAreOneSubtreeEach) {
  for (int packs = 1; packs <= 128; ++packs) {
    for (int ranks = 1; ranks <= packs; ++ranks) {
      std::size_t most = 0;
      for (int rank = 0; rank < ranks; ++rank) most = std::max(most, subtrees({.ranks = ranks}, packs, rank));
      EXPECT_LE(static_cast<double>(most), 2 * std::log2(static_cast<double>(packs) / ranks) + 1)
          << packs << " packs, " << ranks << " ranks";
      if (packs % ranks == 0 && std::has_single_bit(static_cast<unsigned>(packs / ranks))) {
        EXPECT_EQ(most, 1U) << packs << " packs, " << ranks << " ranks";
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::program
