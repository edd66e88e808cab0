// The update rules of the law (docs/arithmetic.md, "Update"): a closed set. A rule says which states it keeps
// for a parameter from one step to the next. Kernels and twins choose by UpdateKind, in a switch without a
// default, so a kind that one of them lacks does not compile.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::arithmetic {

enum class UpdateKind {
  sgd,
  momentum,  // SGD with momentum
  nesterov,  // SGD with Nesterov's momentum
  adam,
  adamw,  // Adam whose decay acts on the weight, not on the gradient
};

struct UpdateRule {
  UpdateKind kind = UpdateKind::sgd;
  std::string_view name = {};  // as people type it
  // Names of the states. Each has the parameter's shape and is +0 before the first step.
  std::span<const std::string_view> states = {};
  // Which options the rule takes, and what they are where nothing is said: PyTorch's values.
  bool takes_momentum = false, takes_betas = false;
  float usual_rate = 0.2f;
  double usual_decay = 0;
};

namespace state_names {
inline constexpr std::array<std::string_view, 1> kMomentum{"velocity"};
inline constexpr std::array<std::string_view, 2> kAdam{"first_moment", "second_moment"};
}  // namespace state_names

// In the order of UpdateKind.
inline constexpr std::array kUpdateRules{
    UpdateRule{.kind = UpdateKind::sgd, .name = "sgd"},
    UpdateRule{.kind = UpdateKind::momentum,
               .name = "momentum",
               .states = state_names::kMomentum,
               .takes_momentum = true},
    UpdateRule{.kind = UpdateKind::nesterov,
               .name = "nesterov",
               .states = state_names::kMomentum,
               .takes_momentum = true},
    UpdateRule{.kind = UpdateKind::adam,
               .name = "adam",
               .states = state_names::kAdam,
               .takes_betas = true,
               .usual_rate = 0.001f},
    UpdateRule{.kind = UpdateKind::adamw,
               .name = "adamw",
               .states = state_names::kAdam,
               .takes_betas = true,
               .usual_rate = 0.001f,
               .usual_decay = 0.01},
};

// States of the rule that has most.
inline constexpr std::size_t kMostStates = std::ranges::max(kUpdateRules, {}, [](const UpdateRule& rule) {
                                             return rule.states.size();
                                           }).states.size();

const UpdateRule& update_rule(UpdateKind kind);

// Nothing if there is no such name.
std::optional<UpdateKind> update_kind_named(std::string_view name);
std::vector<std::string> update_kind_names();

// The numbers of an update that may differ from step to step, each rounded once (step_scalars.h). A rule
// reads the ones that its formula names.
struct UpdateScalars {
  float learning_rate = 0;  // Adam's is lr_t
  float momentum = 0;
  float weight_decay = 0;  // AdamW's is lr * wd; 0: there is no decay
  float beta1 = 0, one_minus_beta1 = 0;
  float beta2 = 0, one_minus_beta2 = 0;
  float eps = 0;  // eps_t

  // For a parameter that never decays.
  UpdateScalars without_decay() const {
    UpdateScalars scalars = *this;
    scalars.weight_decay = 0;
    return scalars;
  }

  bool operator==(const UpdateScalars&) const = default;
};

}  // namespace lockstep::arithmetic
