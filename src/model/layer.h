// The layers a network is made of. A layer knows its own numbers and the names of the layers it takes its
// inputs from. Each kind of layer has a file in layers/: its numbers, its shape rule, its parameters, what
// layers of it without a name of their own are called (kName), and its words in a model's text (words()).
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/layers/add.h"
#include "model/layers/avg_pool.h"
#include "model/layers/batch_norm.h"
#include "model/layers/conv2d.h"
#include "model/layers/dropout.h"
#include "model/layers/flatten.h"
#include "model/layers/global_avg_pool.h"
#include "model/layers/linear.h"
#include "model/layers/max_pool.h"
#include "model/layers/relu.h"

namespace lockstep::model {

using LayerKind =
    std::variant<Conv2d, Linear, Relu, AvgPool, MaxPool, GlobalAvgPool, Flatten, Add, BatchNorm, Dropout>;

// What a layer names to take the model's input.
constexpr std::string_view kInputName = "input";

struct Layer {
  std::string name;  // unique in the model: conv1, relu1, pool1, ...
  LayerKind kind;
  // Names of layers that stand before this one, or kInputName. Empty: the layer before, or the model's input.
  std::vector<std::string> inputs = {};
};

}  // namespace lockstep::model
