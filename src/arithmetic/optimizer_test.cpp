#include "arithmetic/optimizer.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/refusal_for_test.h"

namespace lockstep::arithmetic {
namespace {

using enum UpdateKind;

std::string plain(std::string_view option) { return std::string(option); }
Optimizer resolved(const OptimizerRequest& asked) { return resolve(asked, plain); }
std::string refusal(const OptimizerRequest& asked) {
  return refusal_of(Fault::usage, [&] { resolved(asked); });
}

TEST(Optimizer, WithoutAKindTheMomentumSaysIt) {
  EXPECT_EQ(resolved({}), Optimizer{});
  EXPECT_EQ(resolved({.momentum = 0.0f}), Optimizer{});
  EXPECT_EQ(resolved({.momentum = 0.5f}), (Optimizer{.kind = momentum, .momentum = 0.5f}));
  EXPECT_EQ(sgd_with_momentum(0), Optimizer{});
  EXPECT_EQ(sgd_with_momentum(0.5f), (Optimizer{.kind = momentum, .momentum = 0.5f}));
}

TEST(Optimizer, WhatIsNotSaidIsPyTorchs) {
  EXPECT_EQ(resolved({.kind = sgd}), Optimizer{});
  EXPECT_EQ(resolved({.kind = momentum}), (Optimizer{.kind = momentum, .momentum = 0.9f}));
  EXPECT_EQ(resolved({.kind = nesterov}), (Optimizer{.kind = nesterov, .momentum = 0.9f}));
  EXPECT_EQ(resolved({.kind = adam}), (Optimizer{.kind = adam, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}));
  EXPECT_EQ(resolved({.kind = adamw}), (Optimizer{.kind = adamw, .weight_decay = 0.01}));
}

TEST(Optimizer, WhatIsSaidIsKept) {
  const Optimizer wanted{.kind = adamw, .weight_decay = 0.5, .beta1 = 0, .beta2 = 0.25, .eps = 1e-30};
  EXPECT_EQ(resolved({.kind = adamw, .weight_decay = 0.5, .beta1 = 0, .beta2 = 0.25, .eps = 1e-30}), wanted);
  EXPECT_EQ(resolved({.kind = adamw, .weight_decay = 0.0}).weight_decay, 0);
  EXPECT_EQ(resolved({.kind = adam, .momentum = 0.0f}).momentum, 0);
}

TEST(Optimizer, EveryOneComesBackFromItsRequest) {
  for (const UpdateRule& rule : kUpdateRules) {
    for (const double decay : {0.0, 0.01, 0.25}) {
      Optimizer optimizer = resolved({.kind = rule.kind, .weight_decay = decay});
      EXPECT_EQ(resolved(request_for(optimizer)), optimizer) << rule.name;
      if (!rule.takes_betas) continue;
      optimizer.beta1 = 0.5;
      optimizer.beta2 = 0.75;
      optimizer.eps = 1e-3;
      EXPECT_EQ(resolved(request_for(optimizer)), optimizer) << rule.name;
    }
  }
  EXPECT_EQ(request_for(sgd_with_momentum(0.5f)).kind, std::nullopt) << "the momentum tells it";
}

TEST(Optimizer, NumbersBeyondTheirLimitsAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {1.0, -0.1, 1.5, nan, infinity}) {
    const std::string found = fmt::format(": expected a number from 0 to below 1, found {}", bad);
    EXPECT_EQ(refusal({.kind = adam, .beta1 = bad}), "beta1" + found);
    EXPECT_EQ(refusal({.kind = adam, .beta2 = bad}), "beta2" + found);
  }
  EXPECT_EQ(refusal({.momentum = 1.0f}), "momentum: expected a number from 0 to below 1, found 1");
  for (const double bad : {0.0, -1e-8, 1e-31, nan, infinity})
    EXPECT_EQ(refusal({.kind = adam, .eps = bad}),
              fmt::format("eps: expected a finite number above 0, at least 1e-30, found {}", bad));
  for (const double bad : {-0.1, nan, infinity})
    EXPECT_EQ(refusal({.weight_decay = bad}),
              fmt::format("weight_decay: expected a finite number from 0, found {}", bad));
}

TEST(Optimizer, WhatARuleDoesNotTakeIsRefused) {
  EXPECT_EQ(refusal({.kind = adam, .momentum = 0.9f}),
            "momentum: the optimizer adam takes none; leave it out or choose momentum or nesterov");
  EXPECT_EQ(refusal({.kind = sgd, .momentum = 0.9f}),
            "momentum: the optimizer sgd takes none; leave it out or choose momentum or nesterov");
  EXPECT_EQ(refusal({.kind = nesterov, .momentum = 0.0f}),
            "momentum: the optimizer nesterov expects a number above 0 and below 1, found 0");
  EXPECT_EQ(refusal({.beta1 = 0.9}),
            "beta1: the optimizer sgd takes none; leave it out or choose adam or adamw");
  EXPECT_EQ(refusal({.kind = nesterov, .beta2 = 0.9}),
            "beta2: the optimizer nesterov takes none; leave it out or choose adam or adamw");
  EXPECT_EQ(refusal({.kind = momentum, .eps = 0.1}),
            "eps: the optimizer momentum takes none; leave it out or choose adam or adamw");
}

TEST(UpdateRule, IsFoundByItsName) {
  for (const UpdateRule& rule : kUpdateRules) EXPECT_EQ(update_kind_named(rule.name), rule.kind);
  EXPECT_EQ(update_kind_named("adem"), std::nullopt);
  EXPECT_EQ(update_kind_names(), (std::vector<std::string>{"sgd", "momentum", "nesterov", "adam", "adamw"}));
}

}  // namespace
}  // namespace lockstep::arithmetic
