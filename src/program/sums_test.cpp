// What the simulation of all ranks finds: each test breaks programs that are right in one way.
#include "program/sums.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/refusal_for_test.h"
#include "model/zoo.h"
#include "program/checked_for_test.h"
#include "program/compile.h"
#include "program/looks.h"
#include "program/simulation.h"

namespace lockstep::program {
namespace {

using testing::HasSubstr;

std::vector<Program> whole_programs(bool shard = false, int packs = 16) {
  return checked_data_parallel(compile_training(model::mlp()), {.ranks = 3, .shard_optimizer = shard}, packs);
}

std::string sums_fault(const std::vector<Program>& programs) {
  return refusal_of(Fault::ours, [&] { check_sums(programs); });
}

template <class Operation>
Operation& nth(Program& program, int n) {
  for (ExchangeInstruction& instruction : program.exchange) {
    if (auto* const found = std::get_if<Operation>(&instruction.operation); found != nullptr && n-- == 0)
      return *found;
  }
  throw std::out_of_range("no such instruction");
}

Instruction& instruction_of(Program& program, std::string_view segment) {
  return std::ranges::find(program.segments, segment, &Segment::name)->instructions.at(0);
}

TEST(Sums, OfDataParallelismAreRight) {
  for (const bool shard : {false, true}) {
    for (const int packs : {1, 2, 3, 16, 21}) EXPECT_NO_THROW(check_sums(whole_programs(shard, packs)));
  }
}

TEST(Sums, AnotherOrderOfAdditionsIsFound) {
  std::vector<Program> programs = whole_programs();
  Join& join = nth<Join>(programs[1], 0);
  ASSERT_GT(join.pairs.size(), 2U);
  std::swap(join.inputs.front(), join.inputs.back());
  EXPECT_THAT(sums_fault(programs), HasSubstr("((((0+1)+(2+3))+"));
}

TEST(Sums, ASubtreeThatIsAddedTwiceIsFound) {
  std::vector<Program> programs = whole_programs();
  Join& join = nth<Join>(programs[2], 0);
  join.pairs.push_back(join.pairs.back());
  EXPECT_THAT(sums_fault(programs), HasSubstr(", expected "));
}

TEST(Sums, ASumWithoutItsMeanIsFound) {
  std::vector<Program> programs = whole_programs();
  nth<Join>(programs[0], 0).op = Join::Operator::add;
  EXPECT_NE(sums_fault(programs), "");
}

TEST(Sums, AGradientOfAnotherPlaceIsFound) {
  for (const bool shard : {false, true}) {
    std::vector<Program> programs = whole_programs(shard);
    const auto region = [&](Program& program) -> Region& { return nth<Receive>(program, 0).region; };
    Region& first = region(programs[0]);
    Region& second = nth<Receive>(programs[0], 1).region;
    ASSERT_EQ(first.count, second.count);
    std::swap(first, second);
    EXPECT_NE(sums_fault(programs), "") << shard;
  }
}

TEST(Sums, AnUpdateBeforeItsGradientIsFound) {
  std::vector<Program> programs = whole_programs();
  std::ranges::find(programs[1].segments, std::string("check"), &Segment::name)->waits.clear();
  EXPECT_THAT(sums_fault(programs), HasSubstr("is updated by nothing"));
}

TEST(Sums, AnUpdateThatIsLeftOutIsFound) {
  for (const bool shard : {false, true}) {
    std::vector<Program> programs = whole_programs(shard);
    Segment& update = *std::ranges::find(programs[2].segments, std::string("update"), &Segment::name);
    ASSERT_GT(update.instructions.size(), 1U);
    update.instructions.erase(update.instructions.begin());
    EXPECT_THAT(sums_fault(programs), HasSubstr("is nothing, expected updated by")) << shard;
  }
}

TEST(Sums, AVerdictOfPartOfTheSumsIsFound) {
  for (const bool shard : {false, true}) {
    std::vector<Program> programs = whole_programs(shard);
    Instruction& look = instruction_of(programs[1], "check");
    Check& check = std::get<Check>(look.operation);
    check.parts.pop_back();
    look.inputs.pop_back();
    EXPECT_THAT(sums_fault(programs), HasSubstr("an update was told")) << shard;
  }
}

TEST(Sums, AVerdictOfOneOwnerIsFound) {
  std::vector<Program> programs = whole_programs(true);
  for (ExchangeInstruction& instruction : programs[0].exchange) {
    auto* const join = std::get_if<Join>(&instruction.operation);
    if (join != nullptr && join->op == Join::Operator::both) join->pairs.clear();
  }
  EXPECT_THAT(sums_fault(programs), HasSubstr("an update was told check of 0, which is of"));
}

TEST(Sums, ATallyOfSomeRanksIsFound) {
  std::vector<Program> programs = whole_programs();
  for (ExchangeInstruction& instruction : programs[0].exchange) {
    auto* const join = std::get_if<Join>(&instruction.operation);
    if (join != nullptr && join->op == Join::Operator::integer_add) join->pairs.pop_back();
  }
  EXPECT_THAT(sums_fault(programs), HasSubstr("the tally is (loss of 0+loss of 1), expected the counts of"));
}

TEST(Sums, ALookOfAnotherRankIsFound) {
  std::vector<Program> programs = examination_of(whole_programs());
  EXPECT_NO_THROW(check_sums(programs));
  std::swap(programs[0].received_looks[1], programs[0].received_looks[2]);
  EXPECT_THAT(sums_fault(programs), HasSubstr("is look of 2, expected look of 1"));
}

TEST(Sums, ListsThatWaitForEachOtherAreFound) {
  std::vector<Program> programs = whole_programs();
  for (ExchangeInstruction& instruction : programs[2].exchange) {
    if (std::holds_alternative<Send>(instruction.operation)) continue;
    instruction.signals.clear();
    break;
  }
  EXPECT_THAT(sums_fault(programs), HasSubstr("for ever"));
}

TEST(Terms, SayWhatWasComputed) {
  Terms terms;
  const Term tree = terms.pack_tree(Join::Operator::mean, 0, 5);
  EXPECT_EQ(terms.text(tree), "(((0+1)+(2+3))+4)");
  EXPECT_EQ(terms.text(terms.updated_by(terms.mean(tree))), "updated by mean (((0+1)+(2+3))+4)");
  EXPECT_EQ(terms.leaves(tree), (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(terms.text(kNothing), "nothing");
  EXPECT_EQ(terms.text(terms.updated_by(kNothing)), "updated by nothing");
  EXPECT_EQ(terms.text(terms.join(Join::Operator::both, kNothing, tree)), "(nothing and (((0+1)+(2+3))+4))");
  EXPECT_EQ(terms.pack_tree(Join::Operator::mean, 0, 5), tree);
  EXPECT_NE(terms.pack_tree(Join::Operator::mean, 0, 4), tree);
}

}  // namespace
}  // namespace lockstep::program
