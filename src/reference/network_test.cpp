// The graph of layers against the network in double, which is the outside oracle.
#include "reference/network.h"

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "reference/check_gradients_for_test.h"
#include "reference/convolution.h"
#include "reference/winograd.h"

namespace lockstep::reference {
namespace {

using model::Add, model::AvgPool, model::BatchNorm, model::Conv2d, model::Flatten, model::GlobalAvgPool,
    model::Linear, model::MaxPool, model::Relu;

// The layer under test stands behind a convolution, whose gradients need its input gradient.
void check_behind_convolution(const model::LayerKind& kind) {
  check_gradients({.name = "behind",
                   .input = {2, 7, 6},
                   .layers = {{"conv1", Conv2d{.out_channels = 3, .kernel = {2, 2}}},
                              {"tested", kind},
                              {"flatten1", Flatten{}},
                              {"linear1", Linear{4}}}});
}

// Fast if allowed: conv1 in tiles of 4, conv2 in tiles of 2.
model::Model two_convolutions(arithmetic::ConvolutionRule rule) {
  return {.name = "two",
          .input = {16, 6, 6},
          .layers = {{"conv1", Conv2d{.out_channels = 17, .kernel = {3, 3}}},
                     {"conv2", Conv2d{.out_channels = 16, .kernel = {3, 3}}},
                     {"flatten1", Flatten{}}},
          .convolution = rule};
}

TEST(Network, TakesTheAlgorithmThatTheRuleAllows) {
  const arithmetic::ConvolutionShape first{
      .in_channels = 16, .out_channels = 17, .height = 6, .width = 6, .kernel_height = 3, .kernel_width = 3};
  const arithmetic::ConvolutionShape second{
      .in_channels = 17, .out_channels = 16, .height = 4, .width = 4, .kernel_height = 3, .kernel_width = 3};
  const Tensor x = random_tensor(16 * 36, "x"), dy = random_tensor(16 * 4, "dy");
  const std::vector<Tensor> parameters{random_tensor(17 * 16 * 9, "w1"), random_tensor(17, "b1"),
                                       random_tensor(16 * 17 * 9, "w2"), random_tensor(16, "b2")};

  const model::Model fast = two_convolutions(arithmetic::ConvolutionRule::fast);
  const Tensor middle = winograd_forward(first, 4, 1, x, parameters[0], parameters[1]);
  const Tensor last = winograd_forward(second, 2, 1, middle, parameters[2], parameters[3]);
  const std::vector<Tensor> activations{x, middle, last, last};  // the last is flat
  EXPECT_THAT(forward(fast, parameters, 1, x), SameBits(activations));
  const Tensor back = winograd_input_gradient(second, 2, 1, dy, parameters[2]);
  EXPECT_THAT(
      backward(fast, parameters, 1, activations, dy),
      SameBits(std::vector<Tensor>{
          winograd_weight_gradient(first, 4, 1, x, back), convolution_bias_gradient(first, 1, back),
          winograd_weight_gradient(second, 2, 1, middle, dy), convolution_bias_gradient(second, 1, dy)}));

  const Tensor direct = convolution_forward(first, 1, x, parameters[0], parameters[1]);
  EXPECT_NE(direct, middle);
  EXPECT_THAT(forward(two_convolutions(arithmetic::ConvolutionRule::direct), parameters, 1, x)[1],
              SameBits(direct));
}

TEST(Gradients, OfLinearLayers) {
  check_gradients(
      {.name = "linear", .input = {6}, .layers = {{"linear1", Linear{5}}, {"linear2", Linear{3}}}});
}
TEST(Gradients, OfConvolution) { check_behind_convolution(Conv2d{.out_channels = 4, .kernel = {3, 2}}); }
TEST(Gradients, OfConvolutionWithStrideAndPadding) {
  check_behind_convolution(Conv2d{.out_channels = 2, .kernel = {3, 2}, .stride = {2, 3}, .padding = {1, 2}});
}
TEST(Gradients, OfConvolutionWithPerPackChains) {
  check_gradients({.name = "sixteens",
                   .input = {16, 3, 2},
                   .layers = {{"conv1", Conv2d{.out_channels = 16, .kernel = {3, 3}, .padding = {1, 1}}},
                              {"flatten1", Flatten{}},
                              {"linear1", Linear{3}}}});
}
TEST(Gradients, OfFastConvolution) {
  model::Model model = two_convolutions(arithmetic::ConvolutionRule::fast);
  model.layers.push_back({"linear1", Linear{3}});
  check_gradients(model);
}
TEST(Gradients, OfRelu) { check_behind_convolution(Relu{}); }
TEST(Gradients, OfAveragePoolByTwo) { check_behind_convolution(AvgPool{.window = {2, 2}, .stride = {2, 2}}); }
TEST(Gradients, OfAveragePoolThatOverlaps) {
  check_behind_convolution(AvgPool{.window = {3, 2}, .stride = {2, 1}, .padding = {1, 1}});
}
TEST(Gradients, OfGlobalAveragePool) { check_behind_convolution(GlobalAvgPool{}); }
TEST(Gradients, OfMaxPool) { check_behind_convolution(MaxPool{.window = {2, 2}, .stride = {2, 2}}); }
TEST(Gradients, OfMaxPoolThatOverlaps) {
  check_behind_convolution(MaxPool{.window = {3, 2}, .stride = {2, 1}, .padding = {1, 1}});
}
TEST(Gradients, OfBatchNorm) { check_behind_convolution(BatchNorm{}); }
TEST(Gradients, OfBatchNormInGroups) { check_behind_convolution(BatchNorm{.ghost = 16}); }
TEST(Gradients, OfBatchNormsBehindLinearLayers) {
  check_gradients({.name = "norms",
                   .input = {6},
                   .layers = {{"linear1", Linear{5}},
                              {"bn1", BatchNorm{.eps = 0.5}},
                              {"linear2", Linear{5}},
                              {"bn2", BatchNorm{.ghost = 16, .eps = 0.25}},
                              {"add1", Add{}, {"bn2", "bn1"}},
                              {"linear3", Linear{3}}}});
}

// Behind a relu whose value has three readers: two layers, and one of them twice.
model::Model residual() {
  return {.name = "residual",
          .input = {2, 4, 3},
          .layers = {{"conv1", Conv2d{.out_channels = 3, .kernel = {3, 3}, .padding = {1, 1}}},
                     {"relu1", Relu{}},
                     {"conv2", Conv2d{.out_channels = 3, .kernel = {3, 3}, .padding = {1, 1}}},
                     {"relu2", Relu{}},
                     {"add1", Add{}, {"relu1", "relu2"}},
                     {"add2", Add{}, {"add1", "relu1"}},
                     {"flatten1", Flatten{}},
                     {"linear1", Linear{4}}}};
}
TEST(Gradients, OfAResidualSum) { check_gradients(residual()); }
TEST(Gradients, OfAValueAddedToItself) {
  check_gradients({.name = "double",
                   .input = {5},
                   .layers = {{"linear1", Linear{4}}, {"add1", Add{}, {"linear1", "linear1"}}}});
}

TEST(Network, EvaluationNormalisesWithTheRunningStatistics) {
  // mean 3 and variance 4 - eps of the running statistics: (x - 3) / 2, times 2, plus 1
  const model::Model model{.name = "norm", .input = {1}, .layers = {{"bn1", BatchNorm{.eps = 0.5}}}};
  const std::vector<Tensor> parameters{{2}, {1}, {3}, {3.5f}};
  EXPECT_THAT(evaluation_forward(model, parameters, 3, Tensor{5, 3, -1})[1], SameBits(Tensor{3, 1, -3}));
  EXPECT_NE(forward(model, parameters, 3, Tensor{5, 3, -1})[1], (Tensor{3, 1, -3}));
}

TEST(Network, RunningStatisticsOfEveryBatchNormMove) {
  // x is -1 and 3: mean 1, variance 8 of two values. bn2 reads bn1's output, whose variance is 1 or nearly.
  const model::Model model{
      .name = "two norms",
      .input = {1},
      .layers = {{"bn1", BatchNorm{.momentum = 0.5}}, {"bn2", BatchNorm{.momentum = 1}}}};
  std::vector<Tensor> parameters{{1}, {7}, {0}, {1}, {1}, {0}, {5}, {5}};
  const std::vector<Tensor> before = parameters;
  update_running_statistics(model, parameters, 2, forward(model, parameters, 2, Tensor{-1, 3}));
  EXPECT_THAT(parameters[2], SameBits(Tensor{0.5f}));
  EXPECT_THAT(parameters[3], SameBits(Tensor{4.5f}));
  EXPECT_NEAR(parameters[6][0], 7, 1e-5);
  EXPECT_NEAR(parameters[7][0], 2, 1e-4);
  for (const std::size_t kept : {0U, 1U, 4U, 5U}) EXPECT_EQ(parameters[kept], before[kept]);
}

TEST(Network, GradientsMeetInReverseModelOrder) {
  // Values of one element; linear layers of one unit multiply their gradient. 1 + 2^-24 rounds to 1, so the
  // sum of three gradients shows which two met first.
  const model::Model model{.name = "meet",
                           .input = {1},
                           .layers = {{"start", Linear{1}},
                                      {"a", Linear{1}, {"start"}},
                                      {"b", Linear{1}, {"start"}},
                                      {"c", Linear{1}, {"start"}},
                                      {"ab", Add{}, {"a", "b"}},
                                      {"abc", Add{}, {"ab", "c"}}}};
  const float small = 0x1p-24f;
  const auto bias_gradient_of_start = [&](float a, float b, float c) {
    const std::vector<Tensor> parameters{{1}, {0}, {a}, {0}, {b}, {0}, {c}, {0}};
    return backward(model, parameters, 1, forward(model, parameters, 1, Tensor{1}), {1})[1];
  };
  EXPECT_THAT(bias_gradient_of_start(1, small, small), SameBits(Tensor{1 + 0x1p-23f}));  // c and b meet first
  EXPECT_THAT(bias_gradient_of_start(small, small, 1), SameBits(Tensor{1}));
}

}  // namespace
}  // namespace lockstep::reference
