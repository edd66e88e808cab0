// Programs of networks with batch norm: what is fused and trimmed, where statistics meet, and what every rank
// computes with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/checked_for_test.h"
#include "program/compile.h"
#include "program/node.h"
#include "program/order.h"
#include "program/print.h"
#include "program/simulation.h"

namespace lockstep::program {
namespace {

using model::Add, model::AvgPool, model::BatchNorm, model::Conv2d, model::Flatten, model::Linear, model::Relu;

// A block whose two ways both end in a batch norm.
model::Model residual_model(int ghost) {
  return {.name = "residual",
          .input = {2, 6, 6},
          .layers = {{"conv1", Conv2d{3, {3, 3}, {1, 1}, {1, 1}}},
                     {"bn1", BatchNorm{ghost}},
                     {"relu1", Relu{}},
                     {"conv2", Conv2d{5, {3, 3}, {1, 1}, {1, 1}}},
                     {"bn2", BatchNorm{ghost}},
                     {"conv3", Conv2d{5, {1, 1}}, {"relu1"}},
                     {"bn3", BatchNorm{0}},
                     {"add1", Add{}, {"bn2", "bn3"}},
                     {"relu2", Relu{}},
                     {"flatten1", Flatten{}},
                     {"linear1", Linear{4}}}};
}

// A chain with one batch norm.
model::Model chain_model() {
  return {.name = "chain",
          .input = {1, 3, 3},
          .layers = {{"conv1", Conv2d{2, {1, 1}}},
                     {"bn1", BatchNorm{}},
                     {"relu1", Relu{}},
                     {"flatten1", Flatten{}},
                     {"linear1", Linear{3}}}};
}

std::vector<std::string> names_of(const std::vector<Node>& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const Node& node : nodes) names.push_back(node.name);
  return names;
}

TEST(BatchNormPasses, AReluBehindItIsFused) {
  EXPECT_EQ(names_of(fuse(trim(lower(residual_model(0))))),
            (std::vector<std::string>{"conv1", "bn1+relu1", "conv2", "bn2", "conv3", "bn3", "add1+relu2",
                                      "flatten1", "linear1"}));
  model::Model two_readers = chain_model();
  two_readers.layers.insert(two_readers.layers.begin() + 3, {"add1", Add{}, {"bn1", "relu1"}});
  EXPECT_EQ(names_of(fuse(trim(lower(two_readers)))),
            (std::vector<std::string>{"conv1", "bn1", "relu1", "add1", "flatten1", "linear1"}));
  model::Model pooled = chain_model();
  pooled.layers.insert(pooled.layers.begin() + 3, {"pool1", AvgPool{{3, 3}, {3, 3}}});
  EXPECT_EQ(names_of(fuse(trim(lower(pooled)))),
            (std::vector<std::string>{"conv1", "bn1+relu1", "pool1", "flatten1", "linear1"}));
}

// The operand that each residual sum computes itself, and the batch norms that leave this to their sum.
std::vector<int> normed_operands(const model::Model& model) {
  std::vector<int> operands;
  for (const Node& node : fuse(trim(lower(model))))
    if (const auto* const sum = std::get_if<AddNode>(&node.kind)) operands.push_back(sum->normed);
  return operands;
}
std::vector<std::string> norms_in_sums(const model::Model& model) {
  std::vector<std::string> names;
  for (const Node& node : fuse(trim(lower(model)))) {
    const auto* const norm = std::get_if<BatchNormNode>(&node.kind);
    if (norm != nullptr && norm->in_sum) names.push_back(node.name);
  }
  return names;
}

TEST(BatchNormPasses, ASumComputesTheFirstBatchNormThatItAloneReads) {
  using testing::ElementsAre, testing::IsEmpty;
  model::Model model = residual_model(0);
  EXPECT_THAT(normed_operands(model), ElementsAre(0));
  EXPECT_THAT(norms_in_sums(model), ElementsAre("bn2"));
  model.layers[7].inputs = {"bn3", "bn2"};
  EXPECT_THAT(normed_operands(model), ElementsAre(1));
  EXPECT_THAT(norms_in_sums(model), ElementsAre("bn2"));
  // bn2 has two readers, then one that reads it twice.
  model.layers.insert(model.layers.begin() + 8, {"add2", Add{}, {"bn2", "add1"}});
  EXPECT_THAT(normed_operands(model), ElementsAre(0, -1));
  EXPECT_THAT(norms_in_sums(model), ElementsAre("bn3"));
  model.layers.erase(model.layers.begin() + 5, model.layers.begin() + 8);
  model.layers[5].inputs = {"bn2", "bn2"};
  EXPECT_THAT(normed_operands(model), ElementsAre(-1));
  EXPECT_THAT(norms_in_sums(model), IsEmpty());
  // Behind a batch norm with relu nothing is left to compute.
  model = residual_model(0);
  model.layers.resize(3);
  model.layers.push_back({"add1", Add{}, {"relu1", "conv1"}});
  model.layers.push_back({"flatten1", Flatten{}});
  model.layers.push_back({"linear1", Linear{4}});
  EXPECT_THAT(normed_operands(model), ElementsAre(-1));
}

TEST(BatchNormPasses, ItsStatisticsAreThoseOfAllPositions) {
  // Of 5x5 the pool takes 4x4. Without the batch norm nothing else would be computed.
  model::Model model = chain_model();
  model.input = {1, 5, 5};
  model.layers.insert(model.layers.begin() + 3, {"pool1", AvgPool{{2, 2}, {2, 2}}});
  std::vector<Node> nodes = trim(lower(model));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(nodes[i].output, (Shape{2, 5, 5})) << nodes[i].name;
  EXPECT_EQ(std::get<BatchNormNode>(nodes[1].kind).shape, (Shape{2, 5, 5}));
  model.layers.erase(model.layers.begin() + 1);
  nodes = trim(lower(model));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(nodes[i].output, (Shape{2, 4, 4})) << nodes[i].name;
}

// The lines of all segments: operation, layer, buffers.
std::vector<std::string> lines(const Program& p) {
  const auto names = [&](const std::vector<BufferId>& ids) {
    std::string text;
    for (const BufferId id : ids) text += " " + p.buffers[static_cast<std::size_t>(id)].name;
    return text;
  };
  std::vector<std::string> list;
  for (const Segment& segment : p.segments) {
    list.push_back("segment " + segment.name);
    for (const Instruction& i : segment.instructions)
      list.push_back(to_text(i) + ":" + names(i.inputs) + " ->" + names(i.outputs));
  }
  return list;
}

TEST(BatchNormProgram, ATrainingIsCutWhereStatisticsMeet) {
  const Program p = compile_training(chain_model());
  EXPECT_THAT(
      lines(p),
      testing::ElementsAre(
          "segment prepare", "prepare of conv1.weight: conv1.weight -> conv1.weight.forward",
          "prepare of linear1.weight: linear1.weight -> linear1.weight.forward",
          "prepare of linear1.weight: linear1.weight -> linear1.weight.backward", "segment packs",
          "load of input: -> input labels",
          "forward of conv1: input conv1.weight.forward conv1.bias -> conv1",
          "norm statistics of bn1+relu1: conv1 -> bn1+relu1.triples", "segment norm coefficients",
          "norm coefficients of bn1+relu1: bn1+relu1.group bn1.weight bn1.bias -> bn1+relu1.coefficients",
          "segment packs", "norm of bn1+relu1: conv1 bn1+relu1.coefficients -> bn1+relu1",
          "forward of linear1: bn1+relu1 linear1.weight.forward linear1.bias -> linear1",
          "loss of loss: linear1 labels -> losses loss.partial tally linear1.d",
          "input gradient of linear1: linear1.d linear1.weight.backward -> linear1.dx",
          "weight gradient of linear1: bn1+relu1 linear1.d -> linear1.weight.partial linear1.bias.partial",
          "norm sums of bn1+relu1: linear1.dx conv1 bn1+relu1.coefficients -> bn1+relu1.sums "
          "bn1.weight.partial bn1.bias.partial",
          "segment norm factors",
          "norm factors of bn1+relu1: bn1+relu1.group bn1+relu1.coefficients bn1+relu1.group_sums -> "
          "bn1+relu1.factors",
          "segment packs",
          "norm input gradient of bn1+relu1: linear1.dx conv1 bn1+relu1.coefficients bn1+relu1.factors -> "
          "bn1+relu1.dx",
          "weight gradient of conv1: input bn1+relu1.dx -> conv1.weight.partial conv1.bias.partial"));
  ASSERT_EQ(p.meetings.size(), 2U);
  EXPECT_EQ(p.meetings[0].segment, 1U);
  EXPECT_EQ(p.meetings[1].segment, 3U);
  EXPECT_EQ(p.sums.size(), 7U) << "nothing is summed for running statistics";
  EXPECT_EQ(p.gradients[4], -1);
  EXPECT_EQ(p.gradients[5], -1);
}

TEST(BatchNormProgram, AnEvaluationUsesRunningStatistics) {
  const Program p = compile_evaluation(chain_model());
  EXPECT_THAT(
      lines(p),
      testing::ElementsAre(
          "segment prepare", "prepare of conv1.weight: conv1.weight -> conv1.weight.forward",
          "running coefficients of bn1+relu1: bn1.running_mean bn1.running_var bn1.weight bn1.bias -> "
          "bn1+relu1.coefficients",
          "prepare of linear1.weight: linear1.weight -> linear1.weight.forward", "segment packs",
          "load of input: -> input labels",
          "forward of conv1: input conv1.weight.forward conv1.bias -> conv1",
          "norm of bn1+relu1: conv1 bn1+relu1.coefficients -> bn1+relu1",
          "forward of linear1: bn1+relu1 linear1.weight.forward linear1.bias -> linear1",
          "loss of loss: linear1 labels -> losses loss.partial tally"));
  EXPECT_TRUE(p.meetings.empty());
  const Program of_two = checked_data_parallel(compile_evaluation(residual_model(32)), {.ranks = 2}, 7)[1];
  const auto norm = std::ranges::find_if(packs_of(of_two).instructions, [](const Instruction& i) {
    return std::holds_alternative<NormForward>(i.operation);
  });
  EXPECT_EQ(std::get<NormForward>(norm->operation).groups.packs, 0);
  EXPECT_EQ(of_two.buffers[static_cast<std::size_t>(norm->inputs[1])].elements, 4U * 3U) << "one group";
}

// What a batch norm gives to a residual sum is written nowhere, in a training as in an evaluation.
TEST(BatchNormProgram, AResidualSumComputesABatchNorm) {
  for (const Program& p : {compile_training(residual_model(32)), compile_evaluation(residual_model(32))}) {
    const std::vector<std::string> all = lines(p);
    EXPECT_THAT(all, testing::Contains("norm of bn2+add1+relu2: conv2 bn2.coefficients bn3 -> add1+relu2"));
    EXPECT_THAT(all, testing::Contains("norm of bn3: conv3 bn3.coefficients -> bn3"));
    EXPECT_THAT(all, testing::Not(testing::Contains(testing::StartsWith("add of add1"))));
    EXPECT_EQ(std::ranges::count(p.buffers, "bn2", &Buffer::name), 0);
  }
  EXPECT_THAT(lines(compile_training(residual_model(32), {.fuse = false})),
              testing::IsSupersetOf({"norm of bn2: conv2 bn2.coefficients -> bn2",
                                     "add of add1: bn2 bn3 -> add1", "relu of relu2: add1 -> relu2"}));
}

// The picture wants no gradient, so sums are made for gamma and beta alone.
TEST(BatchNormProgram, OnThePictureNothingMeetsOnTheWayBack) {
  model::Model model = chain_model();
  model.layers.erase(model.layers.begin());
  const Program p = compile_training(model);
  EXPECT_EQ(p.meetings.size(), 1U);
  const Instruction& last = p.segments.back().instructions.back();
  EXPECT_EQ(to_text(last), "norm sums of bn1+relu1");
  for (const int ranks : {1, 3}) EXPECT_NO_THROW(check_order(checked_data_parallel(p, {.ranks = ranks}, 5)));
}

// Every group's statistics are its own tree; sums and updates are what they are without batch norm.
void expect_norms(const Program& step, std::span<const Program> programs, unsigned seed) {
  Simulation simulation(programs, seed);
  ASSERT_TRUE(simulation.run()) << "a rank waits for ever";
  Terms& terms = simulation.terms();
  const int packs = programs[0].packs;
  std::set<Simulation::StatisticsRead> expected;
  for (const Meeting& meeting : step.meetings) {
    Term running = terms.leaf("running");
    for (int g = 0; g < meeting.groups.count(packs); ++g) {
      const int size = meeting.groups.packs == 0 ? packs : meeting.groups.packs;
      const int first = g * size, last = std::min((g + 1) * size, packs);
      const Term triples = terms.pack_tree(Join::Operator::statistics, first, last);
      const Term coefficients = terms.made("coefficients of", triples);
      expected.insert({meeting.groups.packs, g, coefficients});
      expected.insert({meeting.groups.packs, g,
                       terms.made(" factors ", terms.made(", ", triples, coefficients),
                                  terms.pack_tree(Join::Operator::add, first, last))});
      running = terms.made(" then ", running, triples);
    }
    for (const Instruction& instruction : step.running) {
      if (instruction.inputs[0] != meeting.by_group) continue;
      for (std::size_t rank = 0; rank < programs.size(); ++rank) {
        for (const BufferId id : instruction.outputs) {
          const std::size_t all = programs[rank].buffers[static_cast<std::size_t>(id)].elements;
          EXPECT_THAT(simulation.at(rank, {id, 0, all}), testing::Each(running)) << "rank " << rank;
        }
      }
    }
  }
  EXPECT_EQ(simulation.statistics_read(), expected);
  const Term updated = terms.updated_by(terms.mean(terms.pack_tree(Join::Operator::mean, 0, packs)));
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    for (const Sum& sum : programs[rank].sums) {
      if (sum.parameter < 0) continue;
      const std::size_t all = programs[rank].buffers[static_cast<std::size_t>(sum.parameter)].elements;
      EXPECT_THAT(simulation.at(rank, {sum.parameter, 0, all}), testing::Each(updated)) << "rank " << rank;
    }
  }
}

TEST(BatchNormProgram, EveryRankComputesWithTheTreeOfEachGroup) {
  unsigned seed = 0;
  for (const int ghost : {0, 16, 32, 48}) {
    const Program step = compile_training(residual_model(ghost));
    for (const int ranks : {1, 2, 3, 5, 17}) {
      for (const int packs : {1, 2, 5, 7, 16}) {
        for (const std::size_t bucket : {std::size_t{1}, std::size_t{100}, exchange::kSmallestBucket}) {
          if (ranks == 17 && bucket == 100) continue;
          DataPlan plan{.ranks = ranks, .shard_optimizer = ++seed % 2 == 0, .smallest_bucket = bucket};
          if (seed % 5 == 0) plan.exchange = &exchange::kind_named("star");
          SCOPED_TRACE(testing::Message() << "ghost " << ghost << ", " << ranks << " ranks, " << packs
                                          << " packs, buckets of " << bucket << ", seed " << seed);
          const std::vector<Program> programs = checked_data_parallel(step, plan, packs);
          ASSERT_NO_THROW(check_order(programs));
          expect_norms(step, programs, seed);
        }
      }
    }
  }
}

TEST(BatchNormProgram, UnevenSharesDivideAGroup) {
  const Program step = compile_training(residual_model(32));
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::vector<Program> programs =
        checked_data_parallel(step, {.ranks = 3, .smallest_bucket = 1, .shares = {1, 5, 2}}, 11);
    ASSERT_NO_THROW(check_order(programs));
    expect_norms(step, programs, seed);
  }
}

std::vector<std::string> exchange_lines(const Program& program) {
  std::vector<std::string> list;
  list.reserve(program.exchange.size());
  for (const ExchangeInstruction& i : program.exchange) list.push_back(to_text(i, program));
  return list;
}

TEST(BatchNormProgram, StatisticsMeetBeforeSumsAreJoined) {
  const std::vector<Program> programs = checked_data_parallel(
      compile_training(chain_model()),
      {.ranks = 2, .exchange = &exchange::kind_named("star"), .smallest_bucket = 10}, 4);
  std::vector<std::string> list = exchange_lines(programs[1]);
  list.resize(9);
  EXPECT_THAT(list,
              testing::ElementsAre(
                  "send bn1+relu1.triples[12, 24) to rank 0", "receive bn1+relu1.group from rank 0",
                  "send loss.partial subtree 0 to rank 0", "send linear1.weight.partial subtree 0 to rank 0",
                  "receive bn1+relu1.sums[0, 8) from rank 0", "sum of 4 into bn1+relu1.group_sums",
                  "send bn1+relu1.group_sums to rank 0", "receive loss from rank 0",
                  "receive linear1.weight.gradient from rank 0"));
}

// Ranks with whole groups wait for no message; what the running statistics need arrives later.
TEST(BatchNormProgram, AGroupOnOneRankNeedsNoMessage) {
  const std::vector<Program> programs =
      checked_data_parallel(compile_training(residual_model(32)), {.ranks = 4}, 8);
  for (const Program& program : programs) {
    for (const Segment& segment : program.segments) {
      if (segment.instructions.empty() || segment.instructions[0].layer == "bn3") continue;
      if (segment.name != "norm coefficients" && segment.name != "norm factors") continue;
      ASSERT_EQ(segment.waits.size(), 1U);
      const auto signals = [&](const ExchangeInstruction& i) {
        return std::ranges::find(i.signals, segment.waits[0]) != i.signals.end();
      };
      const auto found = std::ranges::find_if(program.exchange, signals);
      ASSERT_NE(found, program.exchange.end());
      EXPECT_TRUE(std::holds_alternative<Join>(found->operation)) << to_text(*found, program);
    }
  }
}

TEST(BatchNormProgram, OwnersOfStatisticsAreSpreadOverTheRanks) {
  const std::vector<Program> programs =
      checked_data_parallel(compile_training(residual_model(0)), {.ranks = 3}, 9);
  for (const Program& program : programs) {
    const auto joins = std::ranges::count_if(program.exchange, [](const ExchangeInstruction& i) {
      const auto* const join = std::get_if<Join>(&i.operation);
      return join != nullptr && join->op == Join::Operator::statistics;
    });
    EXPECT_EQ(joins, 1) << "three batch norms, three ranks";
  }
}

TEST(BatchNormProgram, RunningStatisticsHaveNoStateAndAreLookedAt) {
  for (const bool shard : {false, true}) {
    const std::vector<Program> programs =
        checked_data_parallel(compile_training(chain_model(), {.rule = arithmetic::UpdateKind::adam}),
                              {.ranks = 2, .shard_optimizer = shard}, 3);
    for (const Program& program : programs) {
      EXPECT_EQ(program.parameters.size(), 8U);
      EXPECT_EQ(program.state.size(), 8U + 2 * 6U);
      const Segment& update = program.segments[program.segments.size() - 2];
      EXPECT_EQ(to_text(update.instructions.back()), "running statistics of bn1+relu1");
      EXPECT_EQ(program.segments.back().instructions[0].inputs.size(), 9U);
    }
  }
}

TEST(BatchNormProgram, PrintsWhatMeets) {
  const std::string text =
      to_text(checked_data_parallel(compile_training(residual_model(32)), {.ranks = 2}, 5)[0]);
  for (const char* line : {"groups of 2 packs, relu", "groups 0 to 3", "statistics of 2 into "})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
}

}  // namespace
}  // namespace lockstep::program
