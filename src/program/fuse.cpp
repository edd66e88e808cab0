#include "program/node.h"

namespace lockstep::program {
namespace {

bool is_plain_2x2_average(const Pool& pool) {
  return pool.kind == Pool::Kind::average && pool.window == Extent{2, 2} && pool.stride == Extent{2, 2} &&
         pool.padding == Extent{0, 0} && pool.input.height == 2 * pool.output.height &&
         pool.input.width == 2 * pool.output.width;
}

// Takes `next` into `node` if the pair can run as one.
bool absorb(Node& node, const Node& next) {
  auto* const convolution = std::get_if<ConvolutionNode>(&node.kind);
  if (convolution == nullptr || node.output != next.input) return false;
  if (std::holds_alternative<ReluNode>(next.kind) && convolution->epilogue == Epilogue::none) {
    convolution->epilogue = Epilogue::relu;
  } else if (const auto* const pool = std::get_if<PoolNode>(&next.kind);
             pool != nullptr && convolution->epilogue == Epilogue::relu && is_plain_2x2_average(pool->pool)) {
    convolution->epilogue = Epilogue::relu_average_pool;
    convolution->pool = pool->pool;
  } else {
    return false;
  }
  node.name += "+" + next.name;
  node.output = next.output;
  return true;
}

}  // namespace

std::vector<Node> fuse(std::vector<Node> nodes) {
  std::vector<Node> fused;
  for (Node& node : nodes) {
    if (fused.empty() || !absorb(fused.back(), node)) fused.push_back(std::move(node));
  }
  return fused;
}

}  // namespace lockstep::program
