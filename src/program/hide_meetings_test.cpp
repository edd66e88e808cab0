// What stands between the rows of a meeting and the wait for it, and that every number is still made of the
// same ones.
#include "program/hide_meetings.h"

#include <map>
#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/zoo.h"
#include "program/checked_for_test.h"
#include "program/compile.h"
#include "program/crossing.h"
#include "program/print.h"

namespace lockstep::program {
namespace {

using model::Add, model::BatchNorm, model::Conv2d, model::Dropout, model::Flatten, model::Linear, model::Relu;

// Both ways of the block end in a batch norm; dropout draws by the numbers of elements.
model::Model two_ways(int ghost) {
  return {.name = "two ways",
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
                     {"drop1", Dropout{0.5}},
                     {"flatten1", Flatten{}},
                     {"linear1", Linear{4}}}};
}

std::vector<model::Model> models() {
  return {model::zoo_model("resnet8"), model::zoo_model("resnet18"), two_ways(0), two_ways(32)};
}

std::vector<Program> both_kinds_of_steps() {
  std::vector<Program> steps;
  for (const model::Model& model : models())
    for (const bool fuse : {true, false}) steps.push_back(compile_training(model, {.fuse = fuse}));
  return steps;
}

bool signals(const ExchangeInstruction& instruction, EventId event) {
  return std::ranges::find(instruction.signals, event) != instruction.signals.end();
}

// For each segment that waits for statistics, in order: what it makes of them, then what stands before it.
std::vector<std::string> hidden_in(const Program& program) {
  std::vector<std::string> list;
  for (std::size_t s = 2; s < program.segments.size(); ++s) {
    const Segment& behind = program.segments[s];
    if (behind.name != "norm coefficients" && behind.name != "norm factors") continue;
    const Segment& meanwhile = program.segments[s - 1];
    const bool hides = meanwhile.name == "packs meanwhile";
    std::string& line = list.emplace_back(to_text(behind.instructions.front()) + ":");
    for (const Instruction& instruction : meanwhile.instructions)
      if (hides) line += " " + to_text(instruction) + ",";
    // The rows leave when the segment before is done, and what is waited for comes out of the exchange.
    const Instruction& rows = program.segments[hides ? s - 2 : s - 1].instructions.back();
    EXPECT_EQ(rows.signals.size(), 1U) << line;
    for (const EventId event : behind.waits) {
      EXPECT_TRUE(std::ranges::any_of(program.exchange, [&](const ExchangeInstruction& i) {
        return signals(i, event);
      })) << line;
    }
    EXPECT_FALSE(behind.waits.empty()) << line;
  }
  return list;
}

TEST(HideMeetings, WorkStandsBetweenTheRowsAndTheWait) {
  const std::vector<Program> programs =
      checked_data_parallel(compile_training(model::zoo_model("resnet8")), {.ranks = 2}, 16);
  for (const Program& program : programs) {
    EXPECT_THAT(
        hidden_in(program),
        testing::ElementsAre(
            "norm coefficients of norm1+relu1:", "norm coefficients of block1_norm1+block1_relu1:",
            "norm coefficients of block1_norm2:", "norm coefficients of block2_norm1+block2_relu1:",
            "norm coefficients of block2_norm2: forward of block2_shortcut,",
            "norm coefficients of block3_norm1+block3_relu1:",
            "norm coefficients of block3_norm2: forward of block3_shortcut,",
            "norm factors of block3_norm2: weight gradient of linear1, input gradient of block3_shortcut, "
            "weight gradient of block3_shortcut,",
            "norm factors of block3_norm1+block3_relu1: weight gradient of block3_conv2,",
            "norm factors of block2_norm2: weight gradient of block3_conv1, input gradient of "
            "block2_shortcut, weight gradient of block2_shortcut,",
            "norm factors of block2_norm1+block2_relu1: weight gradient of block2_conv2,",
            "norm factors of block1_norm2: weight gradient of block2_conv1,",
            "norm factors of block1_norm1+block1_relu1:",  // would need a place for each pack: too much
            "norm factors of norm1+relu1: weight gradient of block1_conv1,"));
  }
}

TEST(HideMeetings, OneRankWaitsForNobody) {
  for (const Program& step : both_kinds_of_steps()) {
    const std::vector<Program> one = checked_data_parallel(step, {}, 4);
    EXPECT_EQ(std::ranges::count(one[0].segments, "packs meanwhile", &Segment::name), 0);
  }
}

// Runs a step on terms: what an instruction makes is named by the instruction and by the terms of what it
// takes. Statistics of groups are those of packs, which the meeting turns them into.
class Follower {
 public:
  using Names = std::map<std::tuple<std::string, std::vector<int>, std::size_t>, int>;

  Follower(const Program& step, Names& names) : step_(step), names_(names), terms_(step.buffers.size(), -1) {
    for (const BufferId parameter : step.parameters)
      at(parameter) = named(step.buffers[static_cast<std::size_t>(parameter)].name, {}, 0);
    for (const Segment& segment : step.segments)
      for (const Instruction& instruction : segment.instructions) run(instruction);
  }

  // By name: sums over packs and what stands in tables of statistics.
  std::map<std::string, int> results() const {
    std::map<std::string, int> results;
    for (std::size_t b = 0; b < terms_.size(); ++b) {
      const Buffer& buffer = step_.buffers[b];
      if (buffer.role == Role::partial || buffer.role == Role::statistics || buffer.role == Role::counts)
        results[buffer.name] = terms_[b];
    }
    return results;
  }

 private:
  int& at(BufferId id) { return terms_[static_cast<std::size_t>(id)]; }
  int named(const std::string& text, std::vector<int> inputs, std::size_t output) {
    return names_.try_emplace({text, std::move(inputs), output}, static_cast<int>(names_.size()))
        .first->second;
  }

  void run(const Instruction& instruction) {
    std::vector<int> inputs;
    inputs.reserve(instruction.inputs.size());
    for (const BufferId input : instruction.inputs) {
      EXPECT_GE(at(input), 0) << to_text(instruction) << " reads what nothing has made";
      inputs.push_back(at(input));
    }
    for (std::size_t i = 0; i < instruction.outputs.size(); ++i) {
      at(instruction.outputs[i]) = named(to_text(instruction), inputs, i);
      for (const Meeting& meeting : step_.meetings)
        if (meeting.by_pack == instruction.outputs[i]) at(meeting.by_group) = at(meeting.by_pack);
    }
  }

  const Program& step_;
  Names& names_;
  std::vector<int> terms_;  // by buffer
};

TEST(HideMeetings, EverySumIsMadeOfTheSameNumbers) {
  for (const Program& step : both_kinds_of_steps()) {
    const Program hidden = hide_meetings(step);
    EXPECT_GT(hidden.segments.size(), step.segments.size());
    Follower::Names names;
    EXPECT_EQ(Follower(hidden, names).results(), Follower(step, names).results());
  }
}

TEST(HideMeetings, SumsAreListedAsTheyBecomeComplete) {
  for (const Program& step : both_kinds_of_steps()) {
    const Program hidden = hide_meetings(step);
    std::vector<BufferId> made, listed;
    listed.reserve(hidden.sums.size());
    for (const Segment& segment : hidden.segments)
      for (const Instruction& instruction : segment.instructions)
        for (const BufferId output : instruction.outputs)
          if (hidden.buffers[static_cast<std::size_t>(output)].role == Role::partial) made.push_back(output);
    for (const Sum& sum : hidden.sums) listed.push_back(sum.partial);
    EXPECT_EQ(listed, made);
  }
}

std::size_t floats_that_cross(const Program& step) {
  const std::vector<bool> crosses = crosses_segments(step);
  std::size_t floats = 0;
  for (std::size_t b = 0; b < crosses.size(); ++b)
    if (crosses[b] && step.buffers[b].role == Role::activation) floats += step.buffers[b].elements;
  return floats;
}

TEST(HideMeetings, WhatCrossesSegmentsGrowsByAnEighthAtMost) {
  for (const Program& step : both_kinds_of_steps()) {
    const std::size_t before = floats_that_cross(step), after = floats_that_cross(hide_meetings(step));
    EXPECT_LE(8 * after, 9 * before + 8);
  }
}

}  // namespace
}  // namespace lockstep::program
