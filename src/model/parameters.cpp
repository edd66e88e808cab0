#include "base/error.h"
#include "model/model.h"

namespace lockstep::model {
namespace {

// The weight's shape, empty for a layer without parameters.
std::vector<std::int64_t> weight_shape(const LayerKind& kind, const Shape& in) {
  if (const auto* conv = std::get_if<Conv2d>(&kind)) {
    return {conv->out_channels, in.channels, conv->kernel.height, conv->kernel.width};
  }
  if (const auto* linear = std::get_if<Linear>(&kind)) return {linear->out_units, in.channels};
  return {};
}

}  // namespace

std::size_t Parameter::elements() const {
  std::size_t product = 1;
  for (const std::int64_t size : shape) product *= static_cast<std::size_t>(size);
  return product;
}

std::vector<Parameter> parameters_of(const Model& model) {
  const std::vector<Shape> shapes = infer_shapes(model);
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    const std::vector<std::int64_t> shape = weight_shape(layer.kind, shapes[i]);
    if (shape.empty()) continue;
    const int index = static_cast<int>(i);
    parameters.push_back({layer.name + ".weight", shape, index, Parameter::Role::weight});
    parameters.push_back({layer.name + ".bias", {shape.front()}, index, Parameter::Role::bias});
  }
  return parameters;
}

int classes_of(const Model& model) { return infer_shapes(model).back().channels; }

}  // namespace lockstep::model
