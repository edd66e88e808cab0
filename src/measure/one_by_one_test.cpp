#include "measure/one_by_one.h"

#include <gtest/gtest.h>

#include "model/zoo.h"
#include "program/compile.h"
#include "program/data_parallel.h"
#include "program/order.h"

namespace lockstep::measure {
namespace {

void expect_alone(const program::Program& whole, std::size_t segment) {
  ASSERT_EQ(whole.segments.at(segment).over, program::Segment::Over::packs);
  const std::vector<program::Instruction>& packs = whole.segments[segment].instructions;
  const std::vector<program::Program> singles = one_by_one(whole, segment);
  ASSERT_EQ(singles.size(), packs.size());
  for (std::size_t i = 0; i < packs.size(); ++i) {
    EXPECT_NO_THROW(program::check_program(singles[i]));
    EXPECT_NO_THROW(program::check_order({&singles[i], 1}));
    ASSERT_EQ(singles[i].segments.size(), 1U);
    const program::Segment& single = singles[i].segments[0];
    EXPECT_EQ(single.over, program::Segment::Over::packs);
    EXPECT_EQ(single.packs, program::packs_of(whole).packs);
    ASSERT_EQ(single.instructions.size(), 1U);
    EXPECT_EQ(single.instructions[0].layer, packs[i].layer);
    EXPECT_EQ(single.instructions[0].operation.index(), packs[i].operation.index());
    EXPECT_EQ(single.instructions[0].inputs, packs[i].inputs);
    EXPECT_EQ(single.instructions[0].outputs, packs[i].outputs);
  }
}

TEST(OneByOne, EachInstructionOverPacksStandsAlone) {
  model::Model model = model::lenet();
  model.layers.insert(model.layers.begin() + 1, {"bn1", model::BatchNorm{}});
  const program::Program whole = program::data_parallel(program::compile_training(model), {}, 16)[0];
  for (const std::size_t segment : {std::size_t{1}, std::size_t{5}}) expect_alone(whole, segment);
}

}  // namespace
}  // namespace lockstep::measure
