#include "reference/batch_norm.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "reference/check_gradients_for_test.h"

namespace lockstep::reference {
namespace {

// What a layer makes of x and dy in a step.
struct NormStep {
  Tensor y, dx, scale_gradient, bias_gradient;
  Tensor running_mean, running_var;
};

constexpr float kMomentum = 0.25f;

NormStep take_step(const BatchNormShape& shape, const Tensor& x, const Tensor& dy,
                   const NormParameters& given, Tensor running_mean, Tensor running_var) {
  const auto example = static_cast<std::size_t>(shape.channels * shape.height * shape.width);
  const int examples = static_cast<int>(x.size() / example);
  NormStep step{batch_norm_forward(shape, examples, x, given),
                batch_norm_input_gradient(shape, examples, x, dy, given.scale),
                batch_norm_scale_gradient(shape, examples, x, dy),
                batch_norm_bias_gradient(shape, examples, dy),
                std::move(running_mean),
                std::move(running_var)};
  update_running_statistics(shape, examples, x, kMomentum, {step.running_mean, step.running_var});
  return step;
}

// Random numbers, with a mean that is not zero.
Tensor shifted(std::size_t count, std::string_view name, float mean) {
  Tensor values = random_tensor(count, name);
  for (float& value : values) value += mean;
  return values;
}

TEST(JoinOfStatistics, GivesThoseOfBoth) {
  const NormStatistics both = join({2, 2, 2}, {2, 6, 2});  // of 1, 3 and of 5, 7
  EXPECT_THAT((Tensor{both.n, both.mean, both.deviations}), SameBits(Tensor{4, 4, 20}));
  const NormStatistics uneven = join({3, 1, 0}, {1, 5, 0});
  EXPECT_THAT((Tensor{uneven.n, uneven.mean, uneven.deviations}), SameBits(Tensor{4, 2, 12}));
}

TEST(BatchNorm, StepByHand) {
  // 1, 3, 5, 7: mean 4, squared deviations 20, variance 5; with eps 4 the root is 3 and r = 1/3
  const BatchNormShape shape{.channels = 1, .height = 1, .width = 2, .eps = 4};
  const Tensor gamma{3}, beta{10};
  const float r = 1.0f / 3.0f, a = 3.0f * r;
  ASSERT_EQ(a, 1);
  const NormStep step = take_step(shape, {1, 3, 5, 7}, {1, 0, 0, 2}, {gamma, beta}, {2}, {1});
  EXPECT_THAT(step.y, SameBits(Tensor{7, 9, 11, 13}));
  EXPECT_THAT(step.bias_gradient, SameBits(Tensor{3}));
  const float scale_sum = std::fma(1.0f, -3 * r, 0.0f) + std::fma(2.0f, 3 * r, 0.0f);  // of two lanes
  EXPECT_THAT(step.scale_gradient, SameBits(Tensor{scale_sum}));
  const float b = -(r * (scale_sum / 4)), e = -0.75f;
  EXPECT_THAT(step.dx, SameBits(Tensor{1 + std::fma(b, -3.0f, e), std::fma(b, -1.0f, e), std::fma(b, 1.0f, e),
                                       2 + std::fma(b, 3.0f, e)}));
  EXPECT_THAT(step.running_mean, SameBits(Tensor{2.5f}));
  EXPECT_THAT(step.running_var, SameBits(Tensor{std::fma(kMomentum, 20.0f / 3.0f - 1.0f, 1.0f)}));
}

TEST(BatchNorm, ForwardIsOneFmaAnElement) {
  const BatchNormShape shape{.channels = 1};
  const Tensor gamma{0.7f}, beta{0.1f}, mean{0.3f}, variance{2.3f}, x{1.1f};
  const float scale = 0.7f * (1.0f / std::sqrt(2.3f));
  const float shift = std::fma(-0.3f, scale, 0.1f);
  EXPECT_THAT(batch_norm_evaluation(shape, 1, x, {gamma, beta}, {mean, variance}),
              SameBits(Tensor{std::fma(1.1f, scale, shift)}));
}

TEST(BatchNorm, MeanIsThatOfTheExamplesThatAreThere) {
  // 17 examples of 1: an absent lane that counted would change the mean or give a deviation
  const BatchNormShape shape{.channels = 1, .height = 3, .width = 1};
  const auto statistics = batch_norm_statistics(shape, 17, Tensor(51, 1.0f));
  ASSERT_EQ(statistics.size(), 1U);
  const NormStatistics& all = statistics[0][0];
  EXPECT_THAT((Tensor{all.n, all.mean, all.deviations}), SameBits(Tensor{51, 1, 0}));
}

TEST(BatchNorm, GroupsAreStepsOfTheirOwn) {
  // packs 2, 2 and 1, the last of 5 examples
  constexpr int kFirst = 32, kAll = 69, kElements = 3 * 2;
  const BatchNormShape shape{.channels = 3, .height = 2, .width = 1, .ghost = kFirst, .eps = 1e-5f};
  const Tensor x = shifted(kAll * kElements, "x", 0.5f), dy = random_tensor(kAll * kElements, "dy");
  const Tensor gamma = random_tensor(3, "gamma"), beta = random_tensor(3, "beta");
  const NormStep together = take_step(shape, x, dy, {gamma, beta}, Tensor(3, 0.0f), Tensor(3, 1.0f));
  NormStep alone;
  alone.running_mean = Tensor(3, 0.0f);
  alone.running_var = Tensor(3, 1.0f);
  Tensor y, dx;
  for (const int first : {0, kFirst, 2 * kFirst}) {
    const int end = std::min(first + kFirst, kAll);
    const auto part = [&](const Tensor& whole) {
      return Tensor(whole.begin() + first * kElements, whole.begin() + end * kElements);
    };
    alone = take_step(shape, part(x), part(dy), {gamma, beta}, alone.running_mean, alone.running_var);
    y.insert(y.end(), alone.y.begin(), alone.y.end());
    dx.insert(dx.end(), alone.dx.begin(), alone.dx.end());
  }
  EXPECT_THAT(together.y, SameBits(y));
  EXPECT_THAT(together.dx, SameBits(dx));
  EXPECT_THAT(together.running_mean, SameBits(alone.running_mean));
  EXPECT_THAT(together.running_var, SameBits(alone.running_var));

  BatchNormShape sync = shape;
  sync.ghost = 0;
  EXPECT_NE(take_step(sync, x, dy, {gamma, beta}, Tensor(3, 0.0f), Tensor(3, 1.0f)).y, y);
  BatchNormShape larger = shape;
  larger.ghost = 80;  // than the minibatch: one group
  EXPECT_THAT(batch_norm_forward(larger, kAll, x, {gamma, beta}),
              SameBits(batch_norm_forward(sync, kAll, x, {gamma, beta})));
}

TEST(BatchNorm, GradientsOfParametersMeetInTheTreeOfTheMinibatch) {
  // Sums of packs 1, 0, u, u, 0, 0 with u = 2^-24: in the minibatch's tree the two u meet first and count.
  // In trees of three packs each would be lost.
  const BatchNormShape shape{.channels = 1, .ghost = 48, .eps = 1};
  Tensor x(96), dy(96, 0.0f);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 1.0f : -1.0f;
  dy[0] = 1;
  dy[32] = dy[48] = 0x1p-24f;
  EXPECT_THAT(batch_norm_bias_gradient(shape, 96, dy), SameBits(Tensor{1 + 0x1p-23f}));
  const float h = 1.0f / std::sqrt(2.0f);
  EXPECT_THAT(batch_norm_scale_gradient(shape, 96, x, dy), SameBits(Tensor{h + 0x1p-23f * h}));
  EXPECT_NE(h + 0x1p-24f * h + 0x1p-24f * h, h + 0x1p-23f * h) << "the numbers do not tell the trees apart";
}

TEST(BatchNorm, LanesThatTheTreeAddsFirstMayChangePlaces) {
  const BatchNormShape shape{.channels = 2, .height = 2, .width = 2, .eps = 1e-5f};
  const Tensor gamma{0.5f, -2}, beta{1, 0};
  const auto swap_halves = [](Tensor values) {
    std::rotate(values.begin(), values.begin() + 8 * 8,
                values.begin() + 16 * 8);  // of the first of two packs
    return values;
  };
  const Tensor x = shifted(32 * 8, "x", -2), dy = random_tensor(32 * 8, "dy");
  const NormStep step = take_step(shape, x, dy, {gamma, beta}, {0, 0}, {1, 1});
  const NormStep swapped = take_step(shape, swap_halves(x), swap_halves(dy), {gamma, beta}, {0, 0}, {1, 1});
  EXPECT_THAT(swapped.y, SameBits(swap_halves(step.y)));
  EXPECT_THAT(swapped.dx, SameBits(swap_halves(step.dx)));
  EXPECT_THAT(swapped.scale_gradient, SameBits(step.scale_gradient));
  EXPECT_THAT(swapped.bias_gradient, SameBits(step.bias_gradient));
  EXPECT_THAT(swapped.running_var, SameBits(step.running_var));
}

TEST(BatchNorm, ZerosOfTheInputGradientAreAllPositive) {
  const BatchNormShape shape{.channels = 1, .width = 3, .eps = 1e-5f};
  const Tensor x = random_tensor(57, "x");
  for (const float gamma : {2.0f, -2.0f}) {
    for (const float zero : {0.0f, -0.0f})
      EXPECT_THAT(batch_norm_input_gradient(shape, 19, x, Tensor(57, zero), Tensor{gamma}),
                  SameBits(Tensor(57, 0.0f)));
  }
}

TEST(BatchNorm, EvaluationTakesTheRunningStatisticsForEveryExample) {
  const BatchNormShape shape{.channels = 2, .height = 1, .width = 2, .ghost = 16, .eps = 1e-5f};
  const Tensor gamma{0.5f, -2}, beta{1, 0}, mean{0.25f, -1}, variance{0.5f, 3};
  const Tensor x = random_tensor(33 * 4, "x");
  const Tensor all = batch_norm_evaluation(shape, 33, x, {gamma, beta}, {mean, variance});
  for (std::size_t e = 0; e < 33; ++e) {
    const auto one = std::span(x).subspan(e * 4, 4);
    const auto found = std::span(all).subspan(e * 4, 4);
    EXPECT_THAT(batch_norm_evaluation(shape, 1, one, {gamma, beta}, {mean, variance}),
                SameBits(Tensor(found.begin(), found.end())));
  }
}

TEST(BatchNorm, StatisticsAreNearThoseInDoubleFarFromZero) {
  const BatchNormShape shape{.channels = 1, .height = 8, .width = 8};
  for (const float mean : {0.0f, 10.0f, 1000.0f}) {
    const Tensor x = shifted(50 * 64, "x", mean);
    double sum = 0, squares = 0;
    for (const float value : x) sum += value;
    const double exact = sum / static_cast<double>(x.size());
    for (const float value : x) squares += (value - exact) * (value - exact);
    const NormStatistics found = batch_norm_statistics(shape, 50, x)[0][0];
    EXPECT_EQ(found.n, 50 * 64);
    EXPECT_NEAR(found.mean, exact, 2e-7 * (1 + mean));
    EXPECT_NEAR(found.deviations / squares, 1, 2e-6);
  }
}

}  // namespace
}  // namespace lockstep::reference
