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
  ASSERT_EQ(p.segments.size(), 5U);
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
  EXPECT_EQ(p.segments[2].over, Segment::Over::exchange);
  EXPECT_EQ(p.segments[3].instructions.size(), 1U);
  EXPECT_EQ(p.segments[4].instructions.size(), 8U);
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
  EXPECT_EQ(p.segments.size(), 3U);
}

TEST(Compile, TheCheckStandsBeforeEveryUpdate) {
  const Program p = compile_training(model::mlp());
  EXPECT_TRUE(std::holds_alternative<Check>(p.segments[3].instructions.back().operation));
  EXPECT_EQ(p.segments[3].instructions.back().inputs.size(), 1 + p.parameters.size());
  EXPECT_EQ(p.segments[4].name, "update");
}

TEST(Compile, AnUpdateHasItsRuleAndTheRulesStates) {
  for (const arithmetic::UpdateRule& rule : arithmetic::kUpdateRules) {
    const Program p = compile_training(model::mlp(), {.rule = rule.kind});
    check_program(p);
    EXPECT_EQ(p.rule, rule.kind);
    for (std::size_t i = 0; i < p.parameters.size(); ++i) {
      const Instruction& update = p.segments[4].instructions[i];
      EXPECT_EQ(std::get<Update>(update.operation).rule, rule.kind);
      std::vector<BufferId> inputs{p.parameters[i], p.gradients[i]}, outputs{p.parameters[i]};
      for (std::size_t s = 1; s <= rule.states.size(); ++s) {
        inputs.push_back(p.state[s * p.parameters.size() + i].buffer);
        outputs.push_back(inputs.back());
      }
      EXPECT_EQ(update.inputs, inputs);
      EXPECT_EQ(update.outputs, outputs);
    }
  }
}

TEST(Compile, TheStateIsAllParametersThenAllStates) {
  const Program p = compile_training(model::mlp(), {.rule = arithmetic::UpdateKind::momentum});
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

TEST(Program, PrintsForAPerson) {
  const std::string text = to_text(compile_training(model::mlp()));
  EXPECT_EQ(text.substr(0, text.find("segment exchange")),
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

TEST(Program, RefusesAnUpdateOfAnotherRuleOrWithoutItsStates) {
  Program p = compile_training(model::mlp(), {.rule = arithmetic::UpdateKind::momentum});
  Instruction& update = p.segments[4].instructions[0];
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
