// The layers a network is made of. A layer knows its own numbers and nothing of its neighbours; what comes in
// and goes out is shape inference's business (infer.h).
#pragma once
#include <string>
#include <variant>

#include "model/shape.h"

namespace lockstep::model {

struct Conv2d {
  int out_channels = 0;
  Extent kernel;
  Extent stride{1, 1};
  Extent padding{0, 0};  // zeros, the same on both sides
};
struct Linear {
  int out_units = 0;
};
struct Relu {};
struct AvgPool {
  Extent window;
  Extent stride;
  Extent padding{0, 0};
};
struct MaxPool {
  Extent window;
  Extent stride;
  Extent padding{0, 0};
};
struct Flatten {};

using LayerKind = std::variant<Conv2d, Linear, Relu, AvgPool, MaxPool, Flatten>;

struct Layer {
  std::string name;  // unique in the model: conv1, relu1, pool1, ...
  LayerKind kind;
};

}  // namespace lockstep::model
