#include "model/model.h"

namespace lockstep::model {
namespace {

std::string_view suffix(ParameterRole role) {
  switch (role) {
    case ParameterRole::weight:
    case ParameterRole::scale:
      return ".weight";
    case ParameterRole::bias:
      return ".bias";
    case ParameterRole::running_mean:
      return ".running_mean";
    case ParameterRole::running_var:
      return ".running_var";
  }
  return {};
}

InitialValues usual_values(const Model& model, ParameterRole role) {
  switch (role) {
    case ParameterRole::weight:
      return Normal{model.sigma};
    case ParameterRole::bias:
    case ParameterRole::running_mean:
      return Constant{0};
    case ParameterRole::scale:
    case ParameterRole::running_var:
      return Constant{1};
  }
  return Constant{0};
}

}  // namespace

std::size_t Parameter::elements() const {
  std::size_t product = 1;
  for (const std::int64_t size : shape) product *= static_cast<std::size_t>(size);
  return product;
}

std::vector<Parameter> parameters_of(const Model& model) {
  const std::vector<Shape> shapes = infer_shapes(model);
  const std::vector<std::vector<int>> inputs = inputs_of(model);
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    const Shape& in = shapes[static_cast<std::size_t>(inputs[i].front())];
    for (ParameterSpec& spec :
         std::visit([&](const auto& kind) { return kind.parameters(in); }, layer.kind)) {
      std::string name = layer.name;
      name += suffix(spec.role);
      parameters.push_back({std::move(name), std::move(spec.shape), static_cast<int>(i), spec.role, spec.fans,
                            spec.initial.value_or(usual_values(model, spec.role))});
    }
  }
  return parameters;
}

int classes_of(const Model& model) { return infer_shapes(model).back().channels; }

}  // namespace lockstep::model
