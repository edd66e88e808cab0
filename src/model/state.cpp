#include "model/state.h"

#include <fmt/format.h>

namespace lockstep::model {

std::size_t StateTensor::elements() const {
  std::size_t product = 1;
  for (const std::int64_t size : shape) product *= static_cast<std::size_t>(size);
  return product;
}

std::vector<StateTensor> state_tensors(const Model& model, arithmetic::UpdateKind rule) {
  const std::vector<Parameter> parameters = parameters_of(model);
  std::vector<StateTensor> tensors;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    tensors.push_back({parameters[i].name, parameters[i].shape, StateTensor::Kind::parameter, i});
  for (const std::string_view state : arithmetic::update_rule(rule).states) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].trained())
        tensors.push_back({fmt::format("{}.{}", parameters[i].name, state), parameters[i].shape,
                           StateTensor::Kind::optimizer_state, i, state});
    }
  }
  return tensors;
}

}  // namespace lockstep::model
