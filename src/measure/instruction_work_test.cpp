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

TEST(InstructionWork, OnlyWhatMultipliesHasAnAlgorithm) {
  model::Model lenet = model::lenet();
  lenet.convolution = arithmetic::ConvolutionRule::fast;
  std::vector<std::string> algorithms;
  for (const program::Segment& segment : program::compile_training(lenet).segments) {
    for (const program::Instruction& i : segment.instructions) {
      if (!algorithm_name(i).empty()) algorithms.push_back(kernel_name(i) + ": " + algorithm_name(i));
    }
  }
  EXPECT_THAT(algorithms, testing::ElementsAre(
                              "conv1 forward: direct", "conv2 forward: 4x4 tiles", "linear1 forward: direct",
                              "linear2 forward: direct", "linear2 input gradient: direct",
                              "linear2 weight gradient: direct", "linear1 input gradient: direct",
                              "linear1 weight gradient: direct", "conv2 input gradient: 4x4 tiles",
                              "conv2 weight gradient: 4x4 tiles", "conv1 weight gradient: direct"));
}

}  // namespace
}  // namespace lockstep::measure
