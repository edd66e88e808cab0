#include "measure/one_by_one.h"

#include <gtest/gtest.h>

#include "model/zoo.h"
#include "program/compile.h"

namespace lockstep::measure {
namespace {

TEST(OneByOne, AddsASegmentForEachInstructionOverPacks) {
  const program::Program whole = program::compile_training(model::lenet());
  ASSERT_EQ(whole.segments[1].name, "packs");
  const std::vector<program::Instruction>& packs = whole.segments[1].instructions;
  const OneByOne apart = one_by_one(whole);
  EXPECT_EQ(apart.first_single, whole.segments.size());
  ASSERT_EQ(apart.program.segments.size(), whole.segments.size() + packs.size());
  for (std::size_t i = 0; i < packs.size(); ++i) {
    const program::Segment& single = apart.program.segments[apart.first_single + i];
    EXPECT_EQ(single.over, program::Segment::Over::packs);
    ASSERT_EQ(single.instructions.size(), 1U);
    EXPECT_EQ(single.instructions[0].layer, packs[i].layer);
    EXPECT_EQ(single.instructions[0].operation.index(), packs[i].operation.index());
    EXPECT_EQ(single.instructions[0].inputs, packs[i].inputs);
    EXPECT_EQ(single.instructions[0].outputs, packs[i].outputs);
  }
}

TEST(OneByOne, IsStillAProgram) {
  EXPECT_NO_THROW(program::check_program(one_by_one(program::compile_training(model::mlp())).program));
}

}  // namespace
}  // namespace lockstep::measure
