// Shape inference over the graph. Each kind of layer states its own rule.
#include "base/error.h"
#include "model/model.h"

namespace lockstep::model {
namespace {

void check_model(const Model& model) {
  const Shape& in = model.input;
  const bool positive = in.channels >= 1 && in.height >= 1 && in.width >= 1;
  if (!positive || static_cast<long long>(in.height) * in.width > kMostElements / in.channels) {
    throw Error(Fault::usage,
                "model {} has an input of {}x{}x{}; sizes must be at least 1 and at most {} elements",
                model.name, in.channels, in.height, in.width, kMostElements);
  }
  if (model.layers.empty()) {
    throw Error(Fault::usage, "model {} has no layers; the loss needs at least one", model.name);
  }
}

LayerInputs inputs_in(const Model& model, std::size_t layer, const std::vector<int>& values,
                      const std::vector<Shape>& shapes) {
  LayerInputs in{model.layers[layer].name, {}};
  in.inputs.reserve(values.size());
  for (const int value : values) {
    const std::string_view from =
        value == 0 ? "the input" : std::string_view(model.layers[static_cast<std::size_t>(value) - 1].name);
    in.inputs.push_back({from, shapes[static_cast<std::size_t>(value)]});
  }
  return in;
}

template <class Kind>
Shape output_of(const Kind& kind, const LayerInputs& in) {
  if (in.inputs.size() != static_cast<std::size_t>(Kind::kInputs)) {
    throw Error(Fault::usage, "layer {} takes {} {}, got {}: {}", in.layer, Kind::kInputs,
                Kind::kInputs == 1 ? "input" : "inputs", in.inputs.size(), to_string(in));
  }
  const Shape out = kind.output(in);
  const long long plane = static_cast<long long>(out.height) * out.width;
  if (plane > kMostElements / out.channels) {
    throw Error(Fault::usage, "layer {} gives {} from {}; an example may have at most {} elements", in.layer,
                to_string(out), to_string(in), kMostElements);
  }
  return out;
}

// The last layer whose value goes nowhere has no readers at all.
void check_all_reach_the_loss(const Model& model, const std::vector<std::vector<int>>& inputs,
                              const std::vector<Shape>& shapes) {
  std::vector<bool> used(model.layers.size() + 1, false);
  used.back() = true;
  for (std::size_t i = model.layers.size(); i-- > 0;) {
    if (!used[i + 1]) {
      const LayerInputs in = inputs_in(model, i, inputs[i], shapes);
      throw Error(Fault::usage,
                  "layer {} gives {} from {}, but no layer takes it and it reaches no loss; name {} among "
                  "the inputs of a layer behind it, or remove it",
                  in.layer, to_string(shapes[i + 1]), to_string(in), in.layer);
    }
    for (const int value : inputs[i]) used[static_cast<std::size_t>(value)] = true;
  }
}

}  // namespace

std::vector<Shape> infer_shapes(const Model& model) {
  check_model(model);
  const std::vector<std::vector<int>> inputs = inputs_of(model);
  std::vector<Shape> shapes{model.input};
  shapes.reserve(model.layers.size() + 1);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const LayerInputs in = inputs_in(model, i, inputs[i], shapes);
    shapes.push_back(std::visit([&](const auto& kind) { return output_of(kind, in); }, model.layers[i].kind));
  }
  check_all_reach_the_loss(model, inputs, shapes);
  if (!shapes.back().flat()) {
    throw Error(
        Fault::usage,
        "layer {} is the last and gives {}, but the loss takes a flat vector of classes; put a flatten "
        "and a linear after it",
        model.layers.back().name, to_string(shapes.back()));
  }
  return shapes;
}

}  // namespace lockstep::model
