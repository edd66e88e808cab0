#include "program/compile.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "model/zoo.h"
#include "program/print.h"

namespace lockstep::program {
namespace {

std::vector<std::string> words(const Segment& segment) {
  std::vector<std::string> list;
  for (const Instruction& i : segment.instructions)
    list.push_back(std::string(operation_name(i.operation)) + " " + i.layer);
  return list;
}

TEST(Compile, TrainingOfLeNetIsThisList) {
  const Program p = compile_training(model::lenet());
  ASSERT_EQ(p.segments.size(), 2U);
  EXPECT_EQ(
      words(p.segments[1]),
      (std::vector<std::string>{
          "load input", "forward conv1+relu1+pool1", "forward conv2+relu2+pool2", "forward linear1+relu3",
          "forward linear2", "loss loss", "input gradient linear2", "weight gradient linear2",
          "relu backward linear1+relu3", "input gradient linear1+relu3", "weight gradient linear1+relu3",
          "unpool conv2+relu2+pool2", "input gradient conv2+relu2+pool2", "weight gradient conv2+relu2+pool2",
          "unpool + weight gradient conv1+relu1+pool1"}));
  // four forward, two backward: the picture needs no gradient, and conv2's frequencies serve both
  EXPECT_EQ(p.segments[0].instructions.size(), 6U);
  EXPECT_EQ(p.parameters.size(), 8U);
  EXPECT_EQ(p.gradients.size(), 8U);
}

TEST(Compile, ADirectLayerIsPreparedForEachDirection) {
  model::Model direct = model::lenet();
  direct.convolution = arithmetic::ConvolutionRule::direct;
  EXPECT_EQ(compile_training(direct).segments[0].instructions.size(), 7U);
}

TEST(Compile, EvaluationOfLeNetIsThisList) {
  const Program p = compile_evaluation(model::lenet());
  EXPECT_EQ(words(p.segments[1]),
            (std::vector<std::string>{"load input", "forward conv1+relu1+pool1", "forward conv2+relu2+pool2",
                                      "forward linear1+relu3", "forward linear2", "loss loss"}));
  EXPECT_EQ(p.segments.size(), 2U);
}

// Forward and backward are one instruction; where the gradient has no other reader it is overwritten.
TEST(Compile, DropoutTakesAnInstructionInTrainingAndNoneInEvaluation) {
  const model::Model model{"dropping",
                           {9},
                           {{"linear1", model::Linear{8}},
                            {"dropout1", model::Dropout{0.5}},
                            {"linear2", model::Linear{3}},
                            {"dropout2", model::Dropout{0.5}}}};
  const Program training = compile_training(model);
  EXPECT_EQ(
      words(training.segments[1]),
      (std::vector<std::string>{"load input", "forward linear1", "dropout dropout1", "forward linear2",
                                "dropout dropout2", "loss loss", "dropout dropout2", "input gradient linear2",
                                "weight gradient linear2", "dropout dropout1", "weight gradient linear1"}));
  const Instruction& back = training.segments[1].instructions[9];
  EXPECT_EQ(back.inputs, back.outputs);
  EXPECT_EQ(words(compile_evaluation(model).segments[1]),
            (std::vector<std::string>{"load input", "forward linear1", "forward linear2", "loss loss"}));
}

TEST(Compile, ALayerWithoutABiasHasNoSumOfOne) {
  const model::Model model{
      .name = "m",
      .input = {1, 6, 6},
      .layers = {{"conv1", model::Conv2d{.out_channels = 2, .kernel = {3, 3}, .bias = false}},
                 {"relu1", model::Relu{}},
                 {"pool1", model::AvgPool{.window = {2, 2}, .stride = {2, 2}}},
                 {"flatten1", model::Flatten{}},
                 {"linear1", model::Linear{.out_units = 3, .bias = false}}}};
  const Program program = compile_training(model);
  EXPECT_EQ(program.parameters.size(), 2u);
  int seen = 0;
  for (const Instruction& i : packs_of(program).instructions) {
    const bool forward = std::holds_alternative<Forward>(i.operation);
    const bool gradient = std::holds_alternative<WeightGradient>(i.operation) ||
                          std::holds_alternative<UnpoolWeightGradient>(i.operation);
    if (forward) {
      EXPECT_EQ(i.inputs.size(), 2u) << i.layer;
    }
    if (gradient) {
      EXPECT_EQ(i.outputs.size(), 1u) << i.layer;
    }
    seen += forward || gradient ? 1 : 0;
  }
  EXPECT_EQ(seen, 4);
}

TEST(Compile, WeightsDecayAndBiasesDoNot) {
  const Program p = compile_training(model::lenet());
  for (const Sum& sum : p.sums) {
    if (sum.parameter < 0) continue;
    const std::string& name = p.buffers[static_cast<std::size_t>(sum.parameter)].name;
    EXPECT_EQ(sum.decays, name.ends_with(".weight")) << name;
  }
}

TEST(Program, PrintsForAPerson) {
  const std::string text = to_text(compile_training(model::mlp()));
  EXPECT_EQ(text,
            "segment prepare, elements divided among threads\n"
            "  prepare                  linear1.weight      for forward                                   "
            "linear1.weight -> linear1.weight.forward\n"
            "  prepare                  linear2.weight      for forward                                   "
            "linear2.weight -> linear2.weight.forward\n"
            "  prepare                  linear2.weight      for input gradient                            "
            "linear2.weight -> linear2.weight.backward\n"
            "segment packs, for each pack\n"
            "  load                     input               1x28x28                                       "
            " -> input, labels\n"
            "  forward                  linear1+relu1       784 -> 256                                    "
            "input, linear1.weight.forward, linear1.bias -> linear1+relu1\n"
            "  forward                  linear2             256 -> 10                                     "
            "linear1+relu1, linear2.weight.forward, linear2.bias -> linear2\n"
            "  loss                     loss                10 classes                                    "
            "linear2, labels -> losses, loss.partial, tally, linear2.d\n"
            "  input gradient           linear2             256 -> 10                                     "
            "linear2.d, linear2.weight.backward -> linear2.dx\n"
            "  weight gradient          linear2             256 -> 10                                     "
            "linear1+relu1, linear2.d -> linear2.weight.partial, linear2.bias.partial\n"
            "  relu backward            linear1+relu1                                                     "
            "linear2.dx, linear1+relu1 -> linear2.dx\n"
            "  weight gradient          linear1+relu1       784 -> 256                                    "
            "input, linear2.dx -> linear1.weight.partial, linear1.bias.partial\n");
}

TEST(Program, RefusesAnInstructionWithTheWrongBuffers) {
  Program p = compile_training(model::mlp());
  Instruction& forward = p.segments[1].instructions[1];
  const BufferId x = forward.inputs[0];
  forward.inputs[0] = p.parameters[0];
  EXPECT_THROW(check_program(p), Error);
  forward.inputs[0] = static_cast<BufferId>(p.buffers.size());
  EXPECT_THROW(check_program(p), Error);
  forward.inputs = {x};
  EXPECT_THROW(check_program(p), Error);
}

}  // namespace
}  // namespace lockstep::program
