#include <map>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "program/node.h"

namespace lockstep::program {
namespace {

// The node that the layer becomes: of the kind that has a function of() for it. Kinds: those left to ask.
template <class Kind, class... Kinds>
NodeKind node_of(const auto& layer, const LayerPlace& place) {
  if constexpr (requires { Kind::of(layer, place); }) {
    return Kind::of(layer, place);
  } else {
    static_assert(sizeof...(Kinds) > 0, "no kind of node is made of this kind of layer");
    return node_of<Kinds...>(layer, place);
  }
}

template <class... Kinds>
NodeKind node_of_any(std::type_identity<std::variant<Kinds...>>, const auto& layer, const LayerPlace& place) {
  return node_of<Kinds...>(layer, place);
}

// Of a node that draws random numbers.
std::optional<std::uint32_t> random_stream(const Node& node) {
  return std::visit(
      [](const auto& kind) -> std::optional<std::uint32_t> {
        if constexpr (requires { kind.random_stream(); }) return kind.random_stream();
        return std::nullopt;
      },
      node.kind);
}

// Two streams are equal once in four billion pairs of names.
void check_streams(const std::vector<Node>& nodes) {
  std::map<std::uint32_t, std::string_view> layers;
  for (const Node& node : nodes) {
    const std::optional<std::uint32_t> stream = random_stream(node);
    if (!stream) continue;
    const auto [other, is_new] = layers.emplace(*stream, node.name);
    if (!is_new) {
      throw Error(
          Fault::usage,
          "layers {} and {} would drop elements by the same random numbers, because the hashes of their "
          "names are equal; give one of them another name",
          other->second, node.name);
    }
  }
}

}  // namespace

std::vector<Node> lower(const model::Model& model) {
  const std::vector<Shape> shapes = model::infer_shapes(model);
  const std::vector<std::vector<int>> inputs = model::inputs_of(model);
  std::vector<int> first_parameter(model.layers.size() + 1, 0);  // by layer
  for (const model::Parameter& parameter : model::parameters_of(model))
    ++first_parameter[static_cast<std::size_t>(parameter.layer) + 1];
  for (std::size_t i = 1; i < first_parameter.size(); ++i) first_parameter[i] += first_parameter[i - 1];

  std::vector<Node> nodes;
  nodes.reserve(model.layers.size());
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Shape& input = shapes[static_cast<std::size_t>(inputs[i].front())];
    const model::Layer& layer = model.layers[i];
    const LayerPlace place{layer.name, input, shapes[i + 1], model.convolution, first_parameter[i]};
    const auto lowered = [&](const auto& kind) {
      return node_of_any(std::type_identity<NodeKind>{}, kind, place);
    };
    nodes.push_back({layer.name, std::visit(lowered, layer.kind), input, shapes[i + 1], inputs[i],
                     static_cast<int>(i) + 1});
  }
  check_streams(nodes);
  return nodes;
}

}  // namespace lockstep::program
