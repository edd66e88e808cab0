#include "model/example_groups.h"

#include <optional>

#include "base/error.h"

namespace lockstep::model {
namespace {

// Examples of a group, for layers that have groups.
struct ExamplesOfAGroup {
  template <class Other>
  std::optional<int> operator()(const Other&) const {
    return std::nullopt;
  }
  std::optional<int> operator()(const BatchNorm& norm) const { return norm.ghost; }
};

}  // namespace

std::vector<ExampleGroups> example_groups_of(const Model& model) {
  const std::vector<Shape> shapes = infer_shapes(model);
  std::vector<ExampleGroups> groups;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::optional<int> examples = std::visit(ExamplesOfAGroup{}, model.layers[i].kind);
    if (!examples) continue;
    const Shape& shape = shapes[i + 1];
    groups.push_back({model.layers[i].name, static_cast<std::size_t>(*examples),
                      static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width)});
  }
  return groups;
}

void set_ghost(Model& model, int examples) {
  bool found = false;
  for (Layer& layer : model.layers) {
    auto* const norm = std::get_if<BatchNorm>(&layer.kind);
    if (norm == nullptr) continue;
    norm->ghost = examples;
    found = true;
  }
  if (!found)
    throw Error(Fault::usage, "model {} has no batch norm whose statistics groups of {} examples could have",
                model.name, examples);
}

}  // namespace lockstep::model
