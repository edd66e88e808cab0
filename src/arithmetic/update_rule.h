// The update rules of the law (docs/arithmetic.md, "Update"): a closed set. A rule says which states it keeps
// for a parameter from one step to the next. Kernels and twins choose by UpdateKind, in a switch without a
// default, so a kind that one of them lacks does not compile.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace lockstep::arithmetic {

enum class UpdateKind {
  sgd,
  momentum,  // SGD with momentum
};

struct UpdateRule {
  UpdateKind kind = UpdateKind::sgd;
  std::string_view name = {};  // for messages
  // Names of the states. Each has the parameter's shape and is +0 before the first step.
  std::span<const std::string_view> states = {};
};

namespace state_names {
inline constexpr std::array<std::string_view, 1> kMomentum{"velocity"};
}

// In the order of UpdateKind.
inline constexpr std::array kUpdateRules{
    UpdateRule{UpdateKind::sgd, "sgd", {}},
    UpdateRule{UpdateKind::momentum, "momentum", state_names::kMomentum},
};

// States of the rule that has most.
inline constexpr std::size_t kMostStates = std::ranges::max(kUpdateRules, {}, [](const UpdateRule& rule) {
                                             return rule.states.size();
                                           }).states.size();

const UpdateRule& update_rule(UpdateKind kind);

// The rule of a job with this momentum.
UpdateKind rule_for_momentum(float momentum);

// The numbers of an update that may differ from step to step. A rule reads the ones that its formula names.
struct UpdateScalars {
  float learning_rate = 0;
  float momentum = 0;
};

}  // namespace lockstep::arithmetic
