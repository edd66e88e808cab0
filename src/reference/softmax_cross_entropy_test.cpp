#include "reference/softmax_cross_entropy.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "arithmetic/scalar.h"
#include "base/same_bits_for_test.h"

namespace lockstep::reference {
namespace {

using Tensor = std::vector<float>;
using Labels = std::vector<std::uint8_t>;

TEST(SoftmaxCrossEntropy, IsEvenOverEqualScores) {
  const Loss loss = softmax_cross_entropy(4, Tensor{3, 3, 3, 3}, Labels{2});
  EXPECT_THAT(loss.loss, SameBits(Tensor{arithmetic::log_law(4.0f)}));
  EXPECT_THAT(loss.dz, SameBits(Tensor{0.25f, 0.25f, -0.75f, 0.25f}));
}

TEST(SoftmaxCrossEntropy, FollowsTheLawsSteps) {
  const Loss loss = softmax_cross_entropy(3, Tensor{0.3f, 1.7f, -0.4f}, Labels{0});
  const float e0 = arithmetic::exp_law(0.3f - 1.7f), e1 = 1.0f, e2 = arithmetic::exp_law(-0.4f - 1.7f);
  const float sum = (e0 + e1) + e2;
  EXPECT_THAT(loss.dz, SameBits(Tensor{e0 / sum - 1.0f, e1 / sum, e2 / sum}));
  EXPECT_THAT(loss.loss, SameBits(Tensor{arithmetic::log_law(sum) - (0.3f - 1.7f)}));
}

TEST(SoftmaxCrossEntropy, IsNearTheExactLoss) {
  const Loss loss = softmax_cross_entropy(3, Tensor{0.3f, 1.7f, -0.4f}, Labels{2});
  const double exact = std::log(std::exp(0.3f) + std::exp(1.7f) + std::exp(-0.4f)) + 0.4f;
  EXPECT_NEAR(loss.loss[0], exact, 1e-6);
}

TEST(SoftmaxCrossEntropy, SurvivesLargeScores) {
  const Loss loss = softmax_cross_entropy(2, Tensor{1000, -1000}, Labels{0});
  EXPECT_THAT(loss.loss, SameBits(Tensor{0}));
  EXPECT_THAT(loss.dz, SameBits(Tensor{0, 0}));
  EXPECT_THAT(softmax_cross_entropy(2, Tensor{1000, -1000}, Labels{1}).loss, SameBits(Tensor{2000}));
}

TEST(SoftmaxCrossEntropy, CountsTheFirstMaximum) {
  EXPECT_EQ(softmax_cross_entropy(3, Tensor{1, 5, 5}, Labels{1}).correct, 1);
  EXPECT_EQ(softmax_cross_entropy(3, Tensor{1, 5, 5}, Labels{2}).correct, 0);
  EXPECT_EQ(softmax_cross_entropy(2, Tensor{1, 5, 6, 2}, Labels{1, 0}).correct, 2);
}

TEST(SoftmaxCrossEntropy, DoesNotHideNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(softmax_cross_entropy(2, Tensor{1, nan}, Labels{0}).loss[0]));
  EXPECT_TRUE(std::isnan(softmax_cross_entropy(2, Tensor{nan, 1}, Labels{1}).loss[0]));
}

TEST(LossSum, TakesLanesThenPacks) {
  constexpr float big = 0x1p+30f;
  Tensor loss(17);
  loss[0] = big, loss[8] = 1, loss[16] = -big;
  EXPECT_THAT(loss_sum(loss), SameBits(0.0f));
  loss[8] = -big, loss[16] = 1;
  EXPECT_THAT(loss_sum(loss), SameBits(1.0f));
}

}  // namespace
}  // namespace lockstep::reference
