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

// Where a batch norm stands, its statistics are made, and where the sum stands, the rest of it: an activation
// less is written and read. If both operands are batch norms, the sum takes the first one, whose value would
// have to wait for longer.
void compute_norms_in_sums(std::vector<Node>& nodes) {
  const std::vector<int> readers = readers_of_values(nodes);
  for (Node& node : nodes) {
    auto* const sum = std::get_if<AddNode>(&node.kind);
    if (sum == nullptr) continue;
    BatchNormNode* first = nullptr;
    for (std::size_t operand = 0; operand < node.inputs.size(); ++operand) {
      const int value = node.inputs[operand];
      if (value == 0 || readers[static_cast<std::size_t>(value)] != 1) continue;
      auto* const norm = std::get_if<BatchNormNode>(&nodes[static_cast<std::size_t>(value) - 1].kind);
      if (norm == nullptr || norm->relu) continue;
      if (first != nullptr && value > node.inputs[static_cast<std::size_t>(sum->normed)]) continue;
      first = norm;
      sum->normed = static_cast<int>(operand);
    }
    if (first != nullptr) first->in_sum = true;
  }
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
  compute_norms_in_sums(fused);
  return fused;
}

}  // namespace lockstep::program
