#include <algorithm>

#include "program/node.h"

namespace lockstep::program {
namespace {

int reach(int outputs, int inputs, int window, int stride, int padding) {
  return std::clamp((outputs - 1) * stride + window - padding, 1, inputs);
}

Shape reach(Shape output, Shape input, Extent window, Extent stride, Extent padding) {
  return {input.channels, reach(output.height, input.height, window.height, stride.height, padding.height),
          reach(output.width, input.width, window.width, stride.width, padding.width)};
}

// Every output of a tile depends on all of the tile's input, to the last bit.
Shape in_tiles(Shape output, const Convolution& c) {
  if (!c.algorithms.winograd()) return output;
  const auto whole = [tile = c.algorithms.tile](int outputs) { return (outputs + tile - 1) / tile * tile; };
  return {output.channels, whole(output.height), whole(output.width)};
}

// Shrinks a node to the output that is needed and returns the input that takes.
struct Shrink {
  Node& node;
  bool keeps_input;

  Shape operator()(ConvolutionNode& n) const {
    Convolution& c = n.convolution;
    c.output = node.output;
    return keeps_input ? c.input
                       : c.input = reach(in_tiles(c.output, c), c.input, c.kernel, c.stride, c.padding);
  }
  Shape operator()(ReluNode&) const { return node.output; }
  Shape operator()(PoolNode& n) const {
    Pool& p = n.pool;
    p.output = node.output;
    return keeps_input ? p.input : p.input = reach(p.output, p.input, p.window, p.stride, p.padding);
  }
};

}  // namespace

std::vector<Node> trim(std::vector<Node> nodes) {
  // The picture is loaded whole, so the first layer with a window keeps its input.
  std::size_t first = 0;
  while (first + 1 < nodes.size() && std::holds_alternative<ReluNode>(nodes[first].kind)) ++first;
  for (std::size_t i = nodes.size(); i-- > first;) {
    // A flatten between two nodes keeps the whole tensor: the shapes differ there, the numbers do not.
    if (i + 1 < nodes.size() && nodes[i].output.channels == nodes[i + 1].input.channels) {
      nodes[i].output = nodes[i + 1].input;
    }
    const Shape needed = std::visit(Shrink{nodes[i], i == first}, nodes[i].kind);
    if (i != first) nodes[i].input = needed;
  }
  return nodes;
}

}  // namespace lockstep::program
