// The update kernels of every instruction set against the naive twins, bit for bit.
#include "cpu/update.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "reference/update.h"

namespace lockstep::cpu {
namespace {

using arithmetic::UpdateRule;
using arithmetic::UpdateScalars;
using Tensor = std::vector<float>;

constexpr std::size_t kMost = 50;  // whole vectors and every tail

// A parameter, its gradient and the rule's states.
struct Operands {
  Tensor weights, gradient;
  std::vector<Tensor> states;

  Operands(const UpdateRule& rule, std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const auto draw = [&] {
      Tensor tensor(count);
      for (float& value : tensor) value = std::ldexp(normal(random), static_cast<int>(random() % 40) - 20);
      return tensor;
    };
    weights = draw();
    gradient = draw();
    for (std::size_t s = 0; s < rule.states.size(); ++s) states.push_back(draw());
    if (rule.takes_betas)  // a mean of squares
      for (float& value : states[1]) value = value * value;
    make_unusual();
  }

  void update_by_kernel(const Kernels& kernels, const UpdateRule& rule, const UpdateScalars& scalars) {
    UpdateOperands operands{.weights = weights.data(), .gradient = gradient.data(), .count = weights.size()};
    for (std::size_t s = 0; s < states.size(); ++s) operands.states[s] = states[s].data();
    update(kernels, rule.kind, operands, scalars);
  }

 private:
  // Zeros of either sign and denormals, alone and together.
  void make_unusual() {
    constexpr std::array kUnusual{0.0f, -0.0f, std::numeric_limits<float>::denorm_min(), -0x1p-130f};
    for (std::size_t i = 0; i < weights.size() && i < 16; i += 3) {
      gradient[i] = kUnusual[i % 4];
      weights[i] = kUnusual[i / 4];
      for (Tensor& state : states) state[i] = std::abs(kUnusual[i / 3 % 4]);
    }
  }
};

UpdateScalars scalars_with(float decay) {
  return {.learning_rate = 0.3f,
          .momentum = 0.9f,
          .weight_decay = decay,
          .beta1 = 0.9f,
          .one_minus_beta1 = 0.1f,
          .beta2 = 0.999f,
          .one_minus_beta2 = 0.001f,
          .eps = 1e-8f};
}

TEST(Kernels, UpdatesAreTheTwinsOfEveryRuleWithAndWithoutDecay) {
  for (const Kernels* kernels : usable_kernels()) {
    for (const UpdateRule& rule : arithmetic::kUpdateRules) {
      for (const float decay : {0.0f, 0.01f}) {
        for (std::size_t count = 1; count <= kMost; ++count) {
          SCOPED_TRACE(testing::Message() << kernels->name << ", " << rule.name << ", decay " << decay << ", "
                                          << count << " elements");
          Operands fast(rule, count, static_cast<unsigned>(count)), slow = fast;
          fast.update_by_kernel(*kernels, rule, scalars_with(decay));
          reference::update(rule.kind, slow.weights, slow.states, slow.gradient, scalars_with(decay));
          EXPECT_THAT(fast.weights, SameBits(slow.weights));
          EXPECT_THAT(fast.states, SameBits(slow.states));
        }
      }
    }
  }
}

// fma(0, w, -0) would be +0.
TEST(Kernels, ADecayOfZeroIsAbsent) {
  for (const Kernels* kernels : usable_kernels()) {
    Tensor weights(kMost, 1.0f), velocity(kMost, -0.0f);
    const Tensor gradient(kMost, -0.0f);
    kernels->momentum_sgd({weights.data(), gradient.data(), {velocity.data()}, kMost}, scalars_with(0));
    EXPECT_THAT(velocity, SameBits(Tensor(kMost, -0.0f))) << kernels->name;
  }
}

}  // namespace
}  // namespace lockstep::cpu
