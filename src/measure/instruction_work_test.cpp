#include "measure/instruction_work.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/zoo.h"
#include "program/compile.h"

namespace lockstep::measure {
namespace {

// conv1 on 24x24 forward and weight gradient, conv2 on 8x8 and the linear layers all three ways.
constexpr double kConv1 = 2.0 * 24 * 24 * 20 * 9, kConv2 = 2.0 * 8 * 8 * 50 * 20 * 25;
constexpr double kLinear1 = 2.0 * 800 * 128, kLinear2 = 2.0 * 128 * 10;

TEST(InstructionWork, ALeNetStepCountsOnlyWhatReachesTheLoss) {
  const double flops = flops_per_example(program::compile_training(model::lenet()));
  EXPECT_EQ(flops, 2 * kConv1 + 3 * (kConv2 + kLinear1 + kLinear2));
  EXPECT_EQ(flops, 10'636'800);
}

TEST(InstructionWork, FusingInstructionsChangesNoCount) {
  EXPECT_EQ(flops_per_example(program::compile_training(model::lenet(), {.fuse = false})), 10'636'800);
}

TEST(InstructionWork, EvaluationIsTheForwardPass) {
  EXPECT_EQ(flops_per_example(program::compile_evaluation(model::lenet())),
            kConv1 + kConv2 + kLinear1 + kLinear2);
}

TEST(InstructionWork, NamesSayLayerAndAction) {
  std::vector<std::string> names;
  for (const program::Segment& segment : program::compile_training(model::lenet()).segments) {
    if (segment.name != "packs") continue;
    for (const program::Instruction& i : segment.instructions) names.push_back(kernel_name(i));
  }
  EXPECT_THAT(names, testing::ElementsAre(
                         "input load", "conv1 forward", "conv2 forward", "linear1 forward", "linear2 forward",
                         "loss", "linear2 input gradient", "linear2 weight gradient", "linear1 relu backward",
                         "linear1 input gradient", "linear1 weight gradient", "conv2 unpool",
                         "conv2 input gradient", "conv2 weight gradient", "conv1 weight gradient"));
}

}  // namespace
}  // namespace lockstep::measure
