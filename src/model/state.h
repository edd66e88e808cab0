// The tensors that a training keeps from one step to the next, by name. Checkpoints, replays and devices walk
// this list and do not know what a tensor is for.
#pragma once
#include <string>
#include <vector>

#include "arithmetic/update_rule.h"
#include "model/model.h"

namespace lockstep::model {

struct StateTensor {
  enum class Kind {
    parameter,
    optimizer_state,  // what the update rule keeps for a parameter
  };
  std::string name;  // conv1.weight, conv1.weight.velocity
  std::vector<std::int64_t> shape;
  Kind kind = Kind::parameter;
  std::size_t parameter = 0;    // index in parameters_of() of this parameter, or of the one the state is for
  std::string_view state = {};  // velocity; empty for a parameter

  std::size_t elements() const;
};

// The parameters in model order; then, for each state of the rule, that state of every parameter that a
// gradient changes.
std::vector<StateTensor> state_tensors(const Model& model, arithmetic::UpdateKind rule);

}  // namespace lockstep::model
