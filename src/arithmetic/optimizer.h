// How a job updates its parameters: an update rule and its numbers.
#pragma once
#include <optional>

#include "arithmetic/option_name.h"
#include "arithmetic/update_rule.h"

namespace lockstep::arithmetic {

struct Optimizer {
  UpdateKind kind = UpdateKind::sgd;
  float momentum = 0;                             // above 0 and below 1 where the rule takes it, else 0
  double weight_decay = 0;                        // from 0
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  // of Adam and AdamW; the others leave them as they are here

  bool operator==(const Optimizer&) const = default;
};

// SGD, with momentum if it is not 0.
Optimizer sgd_with_momentum(float momentum);

// What was asked for; nothing: it was not said.
struct OptimizerRequest {
  std::optional<UpdateKind> kind = {};
  std::optional<float> momentum = {};
  std::optional<double> weight_decay = {}, beta1 = {}, beta2 = {}, eps = {};
};

// With PyTorch's values for what was not said, and a momentum of 0.9. Without a kind it is SGD, with momentum
// if one above 0 is asked for. Throws Error(usage), which names the option, if a number is beyond its limits
// or the rule does not take it.
Optimizer resolve(const OptimizerRequest& asked, const OptionName& name);

// A request that resolves to this optimizer. It names no kind where the momentum tells the kind.
OptimizerRequest request_for(const Optimizer& optimizer);

}  // namespace lockstep::arithmetic
