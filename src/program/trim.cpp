// Trimming: every value keeps the rows and columns that some reader needs, counted from the top left corner.
// A window reaches a little further than its outputs, an elementwise node keeps its inputs and its output
// equal, the picture is whole. Extents start at one element and grow until every node has what it needs, so
// the result is the smallest that fits. A node whose input has another reader may get more than it needs; its
// results are the same.
#include <algorithm>

#include "program/node.h"

namespace lockstep::program {
namespace {

class Extents {
 public:
  explicit Extents(const std::vector<Node>& nodes) : values_(nodes.size() + 1, Extent{1, 1}) {
    for (const Node& node : nodes) {
      for (const int value : node.inputs) {
        if (value == 0) values_[0] = node.input.extent();  // the picture is loaded whole
      }
    }
  }

  Extent of(int value) const { return values_[static_cast<std::size_t>(value)]; }

  // Returns whether an extent grew.
  bool grow(const Node& node) {
    return std::visit([&](const auto& kind) { return grow(node, kind); }, node.kind);
  }

 private:
  template <class Kind>
  bool grow(const Node& node, const Kind& kind) {
    const Extent output = of(node.value);
    const Shape kept{node.output.channels, output.height, output.width};
    bool grew = false;
    for (const int value : node.inputs) grew |= include(value, kind.needed_input(kept, node.input).extent());
    if constexpr (Kind::kElementwise) {
      for (const int value : node.inputs) grew |= include(node.value, of(value));
    }
    return grew;
  }

  bool include(int value, const Extent& needed) {
    Extent& extent = values_[static_cast<std::size_t>(value)];
    const Extent before = extent;
    extent = {std::max(extent.height, needed.height), std::max(extent.width, needed.width)};
    return extent != before;
  }

  std::vector<Extent> values_;
};

Shape cut(const Shape& shape, const Extent& extent) { return {shape.channels, extent.height, extent.width}; }

}  // namespace

std::vector<Node> trim(std::vector<Node> nodes) {
  Extents extents(nodes);
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t i = nodes.size(); i-- > 0;) grew |= extents.grow(nodes[i]);
  }
  for (Node& node : nodes) {
    node.input = cut(node.input, extents.of(node.inputs.front()));
    node.output = cut(node.output, extents.of(node.value));
    std::visit([&](auto& kind) { kind.resize(node.input, node.output); }, node.kind);
  }
  return nodes;
}

}  // namespace lockstep::program
