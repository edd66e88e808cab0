// Between the model and the program: one node per layer, in model order. The passes lower -> trim -> fuse
// turn nodes into nodes; compile turns them into instructions. Each kind of node has a file in layers/.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "model/model.h"
#include "program/layers/add.h"
#include "program/layers/batch_norm.h"
#include "program/layers/convolution.h"
#include "program/layers/dropout.h"
#include "program/layers/flatten.h"
#include "program/layers/pool.h"
#include "program/layers/relu.h"

namespace lockstep::program {

using NodeKind =
    std::variant<ConvolutionNode, ReluNode, PoolNode, FlattenNode, AddNode, BatchNormNode, DropoutNode>;

// Values are numbered: value 0 is the program's input, value i + 1 is what node i gives.
struct Node {
  std::string name;
  NodeKind kind;
  Shape input, output;      // inputs are equal where there are several
  std::vector<int> inputs;  // numbers of the values that it takes
  int value = 0;            // the number of the value that it gives
};

// Layers to nodes. Chooses each layer's algorithm from its whole shape.
std::vector<Node> lower(const model::Model& model);

// Cuts off rows and columns that never reach the loss. A value keeps what any of its readers needs.
std::vector<Node> trim(std::vector<Node> nodes);

// Joins a convolution with the relu and the 2x2 average pool behind it, a batch norm or a residual sum with
// the relu behind it. A node joins the one before only if nothing else reads the value between them. A batch
// norm that only a residual sum reads stays a node, but the sum computes its value.
std::vector<Node> fuse(std::vector<Node> nodes);

}  // namespace lockstep::program
