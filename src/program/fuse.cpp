#include <algorithm>

#include "program/node.h"

namespace lockstep::program {
namespace {

// Takes `next` into `node` if the pair can run as one.
bool absorb(Node& node, const Node& next) {
  const auto joins = [](auto& before, const auto& kind) {
    if constexpr (std::decay_t<decltype(before)>::kJoined) return kind.join(before);
    return false;
  };
  if (!std::visit(joins, node.kind, next.kind)) return false;
  node.name += "+" + next.name;
  node.output = next.output;
  return true;
}

std::vector<int> readers_of_values(const std::vector<Node>& nodes) {
  std::vector<int> readers(nodes.size() + 1, 0);
  for (const Node& node : nodes) {
    for (const int value : node.inputs) ++readers[static_cast<std::size_t>(value)];
  }
  return readers;
}

}  // namespace

// A fused node stands where its first node stood, so the order of gradients that meet stays what it was.
std::vector<Node> fuse(std::vector<Node> nodes) {
  const std::vector<int> readers = readers_of_values(nodes);
  std::vector<int> numbers(nodes.size() + 1, 0);  // from old numbers of values to new ones
  std::vector<Node> fused;
  for (Node& node : nodes) {
    const int value = node.value;
    const bool only_reader =
        node.inputs.size() == 1 && readers[static_cast<std::size_t>(node.inputs[0])] == 1;
    for (int& input : node.inputs) input = numbers[static_cast<std::size_t>(input)];
    if (only_reader && node.inputs[0] > 0) {
      Node& before = fused[static_cast<std::size_t>(node.inputs[0]) - 1];
      if (absorb(before, node)) {
        numbers[static_cast<std::size_t>(value)] = before.value;
        continue;
      }
    }
    node.value = static_cast<int>(fused.size()) + 1;
    numbers[static_cast<std::size_t>(value)] = node.value;
    fused.push_back(std::move(node));
  }
  return fused;
}

}  // namespace lockstep::program
