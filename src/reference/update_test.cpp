#include "reference/update.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"

namespace lockstep::reference {
namespace {

using Tensor = std::vector<float>;

TEST(MeanGradient, DividesAndNeverMultipliesByAReciprocal) {
  EXPECT_THAT(mean_gradient(Tensor{6, -9}, 3), SameBits(Tensor{2, -3}));
  EXPECT_THAT(mean_gradient(Tensor{5.0f}, 49), SameBits(Tensor{5.0f / 49.0f}));
  EXPECT_NE(5.0f / 49.0f, 5.0f * (1.0f / 49.0f)) << "the numbers do not tell the two apart";
}

TEST(Sgd, FusesTheStep) {
  Tensor weights{1.0f, 2.0f};
  sgd(weights, Tensor{0.3f, -0.7f}, 0.1f);
  EXPECT_THAT(weights, SameBits(Tensor{std::fma(-0.1f, 0.3f, 1.0f), std::fma(-0.1f, -0.7f, 2.0f)}));

  const float x = 1 + 0x1p-23f;
  Tensor square{x * x};
  sgd(square, Tensor{x}, x);
  EXPECT_NE(square[0], 0.0f) << "the product was rounded before it was added";
}

TEST(Momentum, RemembersVelocity) {
  Tensor weights{1.0f}, velocity{0.0f};
  momentum_sgd(weights, velocity, Tensor{0.5f}, {.learning_rate = 0.5f, .momentum = 0.5f});
  EXPECT_THAT(velocity, SameBits(Tensor{0.5f}));
  EXPECT_THAT(weights, SameBits(Tensor{0.75f}));
  momentum_sgd(weights, velocity, Tensor{0.5f}, {.learning_rate = 0.5f, .momentum = 0.5f});
  EXPECT_THAT(velocity, SameBits(Tensor{0.75f}));
  EXPECT_THAT(weights, SameBits(Tensor{0.375f}));
}

}  // namespace
}  // namespace lockstep::reference
