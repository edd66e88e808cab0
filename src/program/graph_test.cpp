// Passes and instructions of models that are graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/compile.h"
#include "program/node.h"
#include "program/print.h"

namespace lockstep::program {
namespace {

using model::Add, model::AvgPool, model::Conv2d, model::Flatten, model::Linear, model::Relu;

model::Model graph(model::Shape input, std::vector<model::Layer> layers,
                   arithmetic::ConvolutionRule rule = arithmetic::ConvolutionRule::direct) {
  return {.name = "graph", .input = input, .layers = std::move(layers), .convolution = rule};
}

const Node& named(const std::vector<Node>& nodes, std::string_view name) {
  return *std::ranges::find(nodes, name, &Node::name);
}

// The lines of the packs' segment: operation, layer, buffers.
std::vector<std::string> lines(const Program& p) {
  const auto names = [&](const std::vector<BufferId>& ids) {
    std::string text;
    for (const BufferId id : ids) text += " " + p.buffers[static_cast<std::size_t>(id)].name;
    return text;
  };
  std::vector<std::string> list;
  list.reserve(p.segments[1].instructions.size());
  for (const Instruction& i : p.segments[1].instructions)
    list.push_back(to_text(i) + ":" + names(i.inputs) + " ->" + names(i.outputs));
  return list;
}

TEST(TrimGraph, AValueKeepsWhatAnyReaderNeeds) {
  // of 9x9, a pool takes 8x8 and a convolution 9x9
  const std::vector<Node> nodes =
      trim(lower(graph({1, 9, 9}, {{"conv1", Conv2d{2, {1, 1}}},
                                   {"pool1", AvgPool{{2, 2}, {2, 2}}},
                                   {"conv2", Conv2d{2, {3, 3}, {2, 2}}, {"conv1"}},
                                   {"add1", Add{}, {"pool1", "conv2"}},
                                   {"flatten1", Flatten{}}})));
  EXPECT_EQ(named(nodes, "conv1").output, (Shape{2, 9, 9}));
  EXPECT_EQ(named(nodes, "pool1").input, (Shape{2, 9, 9}));
  EXPECT_EQ(std::get<PoolNode>(named(nodes, "pool1").kind).pool.input, (Shape{2, 9, 9}));
}

TEST(TrimGraph, OperandsOfAnAddStayEqual) {
  // The pool needs 8x8 of the sum. conv2 needs one row more of relu1, so all of the sum's operands keep 9x9.
  const std::vector<Node> nodes = trim(lower(graph({1, 9, 9}, {{"conv1", Conv2d{2, {1, 1}}},
                                                               {"relu1", Relu{}},
                                                               {"conv2", Conv2d{2, {3, 3}, {1, 1}, {1, 1}}},
                                                               {"add1", Add{}, {"relu1", "conv2"}},
                                                               {"pool1", AvgPool{{2, 2}, {2, 2}}},
                                                               {"flatten1", Flatten{}}})));
  for (const char* name : {"conv1", "relu1", "conv2", "add1"})
    EXPECT_EQ(named(nodes, name).output, (Shape{2, 9, 9})) << name;
  // Without a window in the residual part everything shrinks.
  const std::vector<Node> small = trim(lower(graph({1, 9, 9}, {{"conv1", Conv2d{2, {1, 1}}},
                                                               {"conv2", Conv2d{2, {1, 1}}},
                                                               {"add1", Add{}, {"conv1", "conv2"}},
                                                               {"pool1", AvgPool{{2, 2}, {2, 2}}},
                                                               {"flatten1", Flatten{}}})));
  for (const char* name : {"conv1", "conv2", "add1"})
    EXPECT_EQ(named(small, name).output, (Shape{2, 8, 8})) << name;
}

TEST(FuseGraph, AValueWithTwoReadersIsNotFused) {
  const auto names = [](const std::vector<Node>& nodes) {
    std::vector<std::string> list;
    list.reserve(nodes.size());
    for (const Node& node : nodes) list.push_back(node.name);
    return list;
  };
  const model::Model model = graph({2, 4, 4}, {{"conv1", Conv2d{2, {1, 1}}},
                                               {"relu1", Relu{}},
                                               {"conv2", Conv2d{2, {1, 1}}},
                                               {"relu2", Relu{}},
                                               {"add1", Add{}, {"conv1", "relu2"}},
                                               {"flatten1", Flatten{}}});
  const std::vector<Node> nodes = fuse(trim(lower(model)));
  EXPECT_EQ(names(nodes), (std::vector<std::string>{"conv1", "relu1", "conv2+relu2", "add1", "flatten1"}));
  EXPECT_EQ(nodes[3].inputs, (std::vector<int>{1, 3}));
  EXPECT_EQ(nodes[3].value, 4);
}

TEST(FuseGraph, AReluJoinsTheResidualSumThatItAloneReads) {
  model::Model model = graph({2, 4, 4}, {{"conv1", Conv2d{2, {1, 1}}},
                                         {"conv2", Conv2d{2, {1, 1}}},
                                         {"add1", Add{}, {"conv1", "conv2"}},
                                         {"relu1", Relu{}},
                                         {"flatten1", Flatten{}}});
  std::vector<Node> nodes = fuse(trim(lower(model)));
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(nodes[2].name, "add1+relu1");
  EXPECT_TRUE(std::get<AddNode>(nodes[2].kind).relu);
  EXPECT_THAT(lines(compile_training(model)),
              testing::IsSupersetOf({"add of add1+relu1: conv1 conv2 -> add1+relu1",
                                     "relu backward of add1+relu1: flatten1.d add1+relu1 -> flatten1.d"}));
  model.layers.insert(model.layers.begin() + 4, {"add2", Add{}, {"add1", "relu1"}});
  nodes = fuse(trim(lower(model)));
  EXPECT_EQ(nodes[2].name, "add1");
  EXPECT_FALSE(std::get<AddNode>(nodes[2].kind).relu);
}

TEST(CompileGraph, AResidualSumHandsOnItsGradientAndNothingOverwritesIt) {
  // Both operands of add1 end in a relu. The gradient of add1 is theirs, too: a relu that worked in place
  // would change the other one's.
  const Program p = compile_training(graph({3}, {{"linear1", Linear{4}},
                                                 {"relu1", Relu{}},
                                                 {"linear2", Linear{4}},
                                                 {"relu2", Relu{}},
                                                 {"add1", Add{}, {"relu1", "relu2"}}}));
  EXPECT_THAT(
      lines(p),
      testing::ElementsAre(
          "load of input: -> input labels",
          "forward of linear1+relu1: input linear1.weight.forward linear1.bias -> linear1+relu1",
          "forward of linear2+relu2: linear1+relu1 linear2.weight.forward linear2.bias -> linear2+relu2",
          "add of add1: linear1+relu1 linear2+relu2 -> add1",
          "loss of loss: add1 labels -> losses loss.partial tally add1.d",
          "relu backward of linear2+relu2: add1.d linear2+relu2 -> linear2+relu2.dy",
          "input gradient of linear2+relu2: linear2+relu2.dy linear2.weight.backward -> linear2+relu2.dx",
          "weight gradient of linear2+relu2: linear1+relu1 linear2+relu2.dy -> linear2.weight.partial "
          "linear2.bias.partial",
          "relu backward of linear1+relu1: add1.d linear1+relu1 linear2+relu2.dx -> linear2+relu2.dx",
          "weight gradient of linear1+relu1: input linear2+relu2.dx -> linear1.weight.partial "
          "linear1.bias.partial"));
}

// Three gradients: two are added, and the last one on the way through the relu.
TEST(CompileGraph, WhereGradientsMeetBehindAReluTheLastAddIsItsOwn) {
  const model::Model model = graph({2}, {{"start", Linear{2}},
                                         {"relu", Relu{}},
                                         {"a", Linear{2}, {"relu"}},
                                         {"b", Linear{2}, {"relu"}},
                                         {"ab", Add{}, {"a", "b"}},
                                         {"all", Add{}, {"ab", "relu"}}});
  const auto backward = [&](const CompileOptions& options) {
    std::vector<std::string> list = lines(compile_training(model, options));
    std::erase_if(list, [](const std::string& line) {
      return line.find(" all.d") == std::string::npos && line.find(" b.dx") == std::string::npos;
    });
    std::erase_if(list, [](const std::string& line) {
      return !line.starts_with("add of") && !line.starts_with("relu backward");
    });
    return list;
  };
  EXPECT_THAT(backward({}),
              testing::ElementsAre("add of b: all.d b.dx -> b.dx",
                                   "relu backward of start+relu: b.dx start+relu a.dx -> b.dx"));
  EXPECT_THAT(backward({.fuse = false}),
              testing::ElementsAre("add of b: all.d b.dx -> b.dx", "add of a: b.dx a.dx -> b.dx",
                                   "relu backward of relu: b.dx relu -> b.dx"));
}

TEST(CompileGraph, GradientsMeetInPlaceInReverseModelOrder) {
  const Program p = compile_training(graph({2}, {{"start", Linear{2}},
                                                 {"a", Linear{2}, {"start"}},
                                                 {"b", Linear{2}, {"start"}},
                                                 {"c", Linear{2}, {"start"}},
                                                 {"ab", Add{}, {"a", "b"}},
                                                 {"abc", Add{}, {"ab", "c"}}}));
  std::vector<std::string> adds;
  for (const std::string& line : lines(p)) {
    if (line.starts_with("add of")) adds.push_back(line);
  }
  EXPECT_THAT(adds, testing::ElementsAre("add of ab: a b -> ab", "add of abc: ab c -> abc",
                                         "add of b: c.dx b.dx -> c.dx", "add of a: c.dx a.dx -> c.dx"));
}

TEST(CompileGraph, NothingBeforeTheFirstParameterHasAGradient) {
  const Program p = compile_training(graph({2}, {{"relu1", Relu{}},
                                                 {"double", Add{}, {"relu1", "input"}},
                                                 {"linear1", Linear{2}},
                                                 {"add1", Add{}, {"linear1", "double"}}}));
  EXPECT_EQ(lines(p).back(),
            "weight gradient of linear1: double add1.d -> linear1.weight.partial linear1.bias.partial");
}

}  // namespace
}  // namespace lockstep::program
