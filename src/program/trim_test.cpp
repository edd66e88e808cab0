#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "model/zoo.h"
#include "program/node.h"

namespace lockstep::program {
namespace {

const Convolution& convolution_of(const Node& node) {
  return std::get<ConvolutionNode>(node.kind).convolution;
}

model::Model chain(model::Shape input, std::vector<model::LayerKind> kinds) {
  model::Model m{"chain", input, {}};
  for (const model::LayerKind& kind : kinds)
    m.layers.push_back({"l" + std::to_string(m.layers.size()), kind});
  return m;
}

TEST(Lower, MakesOneNodePerLayer) {
  const std::vector<Node> nodes = lower(model::lenet());
  std::vector<std::string> names;
  for (const Node& node : nodes) names.push_back(node.name);
  EXPECT_EQ(names, (std::vector<std::string>{"conv1", "relu1", "pool1", "conv2", "relu2", "pool2", "flatten1",
                                             "linear1", "relu3", "linear2"}));
  EXPECT_EQ(std::get<ConvolutionNode>(nodes[3].kind).weight, 2);
  EXPECT_EQ(std::get<ConvolutionNode>(nodes[3].kind).bias, 3);
  EXPECT_EQ(convolution_of(nodes[7]).input, (Shape{800, 1, 1}));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(nodes[i].inputs, std::vector<int>{static_cast<int>(i)});
    EXPECT_EQ(nodes[i].value, static_cast<int>(i) + 1);
  }
}

TEST(Lower, DropoutCountsTheElementsOfTheWholeLayer) {
  std::vector<Node> nodes =
      lower(chain({2, 7, 6}, {model::Conv2d{3, {2, 2}}, model::Dropout{0.25}, model::AvgPool{{2, 2}, {2, 2}},
                              model::Flatten{}, model::Linear{2}}));
  nodes = trim(std::move(nodes));
  const Dropout dropout = std::get<DropoutNode>(nodes[1].kind).dropout;
  EXPECT_EQ(dropout.whole, (Shape{3, 6, 5}));
  EXPECT_EQ(dropout.kept, (Shape{3, 6, 4}));
  EXPECT_EQ(dropout.threshold, 1U << 22);
  EXPECT_EQ(dropout.scale, 0x1.555556p+0f);
  EXPECT_EQ(dropout.stream, stream_id("dropout:l1"));
}

TEST(Lower, ADropoutRoundsItsThresholdUp) {
  const auto threshold = [](double p) { return DropoutNode("drop", p, {1}).dropout.threshold; };
  EXPECT_EQ(threshold(0), 0U);
  EXPECT_EQ(threshold(5e-324), 1U);
  EXPECT_EQ(threshold(0x1p-24), 1U);
  EXPECT_EQ(threshold(0x1.8p-24), 2U);
  EXPECT_EQ(threshold(0.1), 1677722U);
  EXPECT_EQ(threshold(1 - 0x1p-53), 1U << 24);
}

// Names of equal hashes: found by trying.
TEST(Lower, RefusesTwoDropoutsThatWouldDrawTheSameWords) {
  ASSERT_EQ(stream_id("dropout:drop97065"), stream_id("dropout:drop103318"));
  model::Model model{
      "twice",
      {4},
      {{"drop97065", model::Dropout{0.5}}, {"drop103318", model::Dropout{0.5}}, {"l", model::Linear{2}}}};
  try {
    lower(model);
    FAIL() << "equal streams were taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_EQ(std::string(error.what()),
              "layers drop97065 and drop103318 would drop elements by the same random numbers, because the "
              "hashes of their names "
              "are equal; give one of them another name");
  }
}

TEST(Lower, ChoosesTheChainFromTheWholeLayersChannels) {
  using arithmetic::WeightGradientAlgorithm;
  const auto chain_of = [](int in, int out) {
    model::Model model = chain({in, 4, 4}, {model::Conv2d{out, {3, 3}}, model::Flatten{}, model::Linear{2}});
    model.convolution = arithmetic::ConvolutionRule::direct;
    return convolution_of(lower(model)[0]).algorithms.weight_gradient;
  };
  EXPECT_EQ(chain_of(16, 32), WeightGradientAlgorithm::per_row);
  EXPECT_EQ(chain_of(16, 20), WeightGradientAlgorithm::per_lane);
  EXPECT_EQ(chain_of(1, 16), WeightGradientAlgorithm::per_lane);
}

TEST(Lower, ChoosesFastConvolutionFromTheWholeLayersShape) {
  model::Model lenet = model::lenet();
  lenet.convolution = arithmetic::ConvolutionRule::fast;
  EXPECT_FALSE(convolution_of(lower(lenet)[0]).algorithms.winograd());
  EXPECT_EQ(convolution_of(lower(lenet)[3]).algorithms.tile, 4);
  lenet.convolution = arithmetic::ConvolutionRule::direct;
  EXPECT_FALSE(convolution_of(lower(lenet)[3]).algorithms.winograd());
}

TEST(Trim, KeepsAllThatATileOfFastConvolutionReads) {
  // 11x11 outputs, of which the pool takes 10x10: tiles of 4 compute 12x12 and read 14x14 of the 13x13
  model::Model model =
      chain({1, 13, 13}, {model::Conv2d{16, {1, 1}}, model::Conv2d{16, {3, 3}},
                          model::AvgPool{{5, 5}, {5, 5}}, model::Flatten{}, model::Linear{2}});
  model.convolution = arithmetic::ConvolutionRule::fast;
  EXPECT_EQ(convolution_of(trim(lower(model))[1]).input, (Shape{16, 13, 13}));
  model.convolution = arithmetic::ConvolutionRule::direct;
  EXPECT_EQ(convolution_of(trim(lower(model))[1]).input, (Shape{16, 12, 12}));
}

TEST(Trim, KeepsOfLeNetWhatReachesTheLoss) {
  const std::vector<Node> nodes = trim(lower(model::lenet()));
  EXPECT_EQ(convolution_of(nodes[0]).input, (Shape{1, 28, 28}));  // the picture is loaded whole
  EXPECT_EQ(convolution_of(nodes[0]).output, (Shape{20, 24, 24}));
  EXPECT_EQ(nodes[2].output, (Shape{20, 12, 12}));
  EXPECT_EQ(convolution_of(nodes[3]).input, (Shape{20, 12, 12}));
  EXPECT_EQ(convolution_of(nodes[3]).output, (Shape{50, 8, 8}));
  EXPECT_EQ(nodes[5].output, (Shape{50, 4, 4}));
  EXPECT_EQ(convolution_of(nodes[7]).input, (Shape{800, 1, 1}));
}

TEST(Trim, LeNetMultipliesTenAndAHalfMillionTimesAnExample) {
  double sum = 0;
  const std::vector<Node> nodes = trim(lower(model::lenet()));
  for (const Node& node : nodes) {
    if (!std::holds_alternative<ConvolutionNode>(node.kind)) continue;
    sum += multiply_adds(convolution_of(node)) *
           (&node == nodes.data() ? 2 : 3);  // the picture needs no gradient
  }
  EXPECT_EQ(2 * sum, 10'636'800);
}

TEST(Trim, ReachesThroughStrideAndPadding) {
  // 11 rows, window 3, stride 2, padding 1: outputs 0..5 need rows up to 2 * 5 + 3 - 1 - 1 = 11, that is all.
  std::vector<Node> nodes =
      trim(lower(chain({1, 11, 11}, {model::Conv2d{2, {1, 1}}, model::Conv2d{2, {3, 3}, {2, 2}, {1, 1}},
                                     model::Flatten{}, model::Linear{2}})));
  EXPECT_EQ(nodes[0].output, (Shape{2, 11, 11}));
  // 12 rows: the last one is never touched.
  nodes = trim(lower(chain({1, 12, 12}, {model::Conv2d{2, {1, 1}}, model::Conv2d{2, {3, 3}, {2, 2}, {1, 1}},
                                         model::Flatten{}, model::Linear{2}})));
  EXPECT_EQ(nodes[1].output, (Shape{2, 6, 6}));
  EXPECT_EQ(nodes[0].output, (Shape{2, 12, 12}));
  nodes = trim(lower(chain({1, 12, 12}, {model::Conv2d{2, {1, 1}}, model::Conv2d{2, {3, 3}, {2, 2}},
                                         model::Flatten{}, model::Linear{2}})));
  EXPECT_EQ(nodes[0].output, (Shape{2, 11, 11}));
}

TEST(Fuse, JoinsConvolutionReluAndAveragePool) {
  const std::vector<Node> nodes = fuse(trim(lower(model::lenet())));
  ASSERT_EQ(nodes.size(), 5U);
  EXPECT_EQ(nodes[0].name, "conv1+relu1+pool1");
  EXPECT_EQ(nodes[0].output, (Shape{20, 12, 12}));
  EXPECT_EQ(std::get<ConvolutionNode>(nodes[0].kind).epilogue, Epilogue::relu_average_pool);
  EXPECT_EQ(std::get<ConvolutionNode>(nodes[3].kind).epilogue, Epilogue::relu);
  EXPECT_EQ(std::get<ConvolutionNode>(nodes[4].kind).epilogue, Epilogue::none);
}

TEST(Fuse, LeavesAPoolWhoseWindowsDoNotTileTheOutput) {
  const model::Model odd =
      chain({1, 9, 9}, {model::Conv2d{2, {1, 1}}, model::Relu{}, model::AvgPool{{2, 2}, {2, 2}},
                        model::Flatten{}, model::Linear{2}});
  EXPECT_EQ(fuse(lower(odd)).size(), 4U);        // 9 rows, the last is dropped by the pool
  EXPECT_EQ(fuse(trim(lower(odd))).size(), 3U);  // 8 rows
  const model::Model three =
      chain({1, 9, 9}, {model::Conv2d{2, {1, 1}}, model::Relu{}, model::AvgPool{{3, 3}, {3, 3}},
                        model::Flatten{}, model::Linear{2}});
  EXPECT_EQ(fuse(trim(lower(three))).size(), 4U);
}

}  // namespace
}  // namespace lockstep::program
