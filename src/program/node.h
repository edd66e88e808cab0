// Between the model and the program: one node per computing layer, in forward order. The passes lower -> trim
// -> fuse turn nodes into nodes; compile turns them into instructions.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "model/model.h"
#include "program/geometry.h"

namespace lockstep::program {

struct ConvolutionNode {
  Convolution convolution;
  int weight = -1, bias = -1;  // indices in model::parameters_of
  Epilogue epilogue = Epilogue::none;
  Pool pool{};  // of relu_average_pool
};
struct ReluNode {};
struct PoolNode {
  Pool pool;
};

struct Node {
  std::string name;
  std::variant<ConvolutionNode, ReluNode, PoolNode> kind;
  Shape input, output;
};

// Layers to nodes. Flatten leaves no trace: [C][H][W] and [C*H*W] are the same numbers in the same order.
// Chooses each layer's algorithm from its whole shape.
std::vector<Node> lower(const model::Model& model);

// Cuts off rows and columns that never reach the loss, from the last node to the first.
std::vector<Node> trim(std::vector<Node> nodes);

// Joins a convolution with the relu and the 2x2 average pool behind it.
std::vector<Node> fuse(std::vector<Node> nodes);

}  // namespace lockstep::program
