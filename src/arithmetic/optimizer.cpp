#include "arithmetic/optimizer.h"

#include <cmath>

#include "base/error.h"

namespace lockstep::arithmetic {
namespace {

constexpr float kUsualMomentum = 0.9f;
constexpr double kLeastEps = 1e-30;  // eps_t, which is rounded to float, stays above 0

void expect(bool holds, const std::string& option, std::string_view expected, double found) {
  if (!holds) throw Error(Fault::usage, "{}: expected {}, found {}", option, expected, found);
}

void expect_fraction(const std::string& option, double value) {
  expect(value >= 0 && value < 1, option, "a number from 0 to below 1", value);
}

void expect_limits(const OptimizerRequest& asked, const OptionName& name) {
  if (asked.momentum) expect_fraction(name("momentum"), *asked.momentum);
  if (asked.beta1) expect_fraction(name("beta1"), *asked.beta1);
  if (asked.beta2) expect_fraction(name("beta2"), *asked.beta2);
  if (asked.eps)
    expect(std::isfinite(*asked.eps) && *asked.eps >= kLeastEps, name("eps"),
           "a finite number above 0, at least 1e-30", *asked.eps);
  if (asked.weight_decay)
    expect(std::isfinite(*asked.weight_decay) && *asked.weight_decay >= 0, name("weight_decay"),
           "a finite number from 0", *asked.weight_decay);
}

[[noreturn]] void refuse(std::string_view what, const UpdateRule& rule, std::string_view takers) {
  throw Error(Fault::usage, "{}: the optimizer {} takes none; leave it out or choose {}", what, rule.name,
              takers);
}

void expect_taken(const OptimizerRequest& asked, const UpdateRule& rule, const OptionName& name) {
  if (asked.momentum.value_or(0) > 0 && !rule.takes_momentum)
    refuse(name("momentum"), rule, "momentum or nesterov");
  if (asked.momentum && rule.takes_momentum && *asked.momentum == 0)
    throw Error(Fault::usage, "{}: the optimizer {} expects a number above 0 and below 1, found 0",
                name("momentum"), rule.name);
  if (rule.takes_betas) return;
  if (asked.beta1) refuse(name("beta1"), rule, "adam or adamw");
  if (asked.beta2) refuse(name("beta2"), rule, "adam or adamw");
  if (asked.eps) refuse(name("eps"), rule, "adam or adamw");
}

}  // namespace

Optimizer sgd_with_momentum(float momentum) {
  return {.kind = momentum == 0 ? UpdateKind::sgd : UpdateKind::momentum, .momentum = momentum};
}

Optimizer resolve(const OptimizerRequest& asked, const OptionName& name) {
  expect_limits(asked, name);
  const UpdateKind kind = asked.kind.value_or(sgd_with_momentum(asked.momentum.value_or(0)).kind);
  const UpdateRule& rule = update_rule(kind);
  expect_taken(asked, rule, name);
  const Optimizer usual;
  return {.kind = kind,
          .momentum = rule.takes_momentum ? asked.momentum.value_or(kUsualMomentum) : 0,
          .weight_decay = asked.weight_decay.value_or(rule.usual_decay),
          .beta1 = asked.beta1.value_or(usual.beta1),
          .beta2 = asked.beta2.value_or(usual.beta2),
          .eps = asked.eps.value_or(usual.eps)};
}

OptimizerRequest request_for(const Optimizer& optimizer) {
  OptimizerRequest request{.weight_decay = optimizer.weight_decay};
  if (optimizer.kind != sgd_with_momentum(optimizer.momentum).kind) request.kind = optimizer.kind;
  if (update_rule(optimizer.kind).takes_momentum) request.momentum = optimizer.momentum;
  if (update_rule(optimizer.kind).takes_betas) {
    request.beta1 = optimizer.beta1;
    request.beta2 = optimizer.beta2;
    request.eps = optimizer.eps;
  }
  return request;
}

}  // namespace lockstep::arithmetic
