// What a kind of node is told about the layer that it is made of, beside the layer's own numbers.
#pragma once
#include <string>

#include "arithmetic/algorithm.h"
#include "model/shape.h"

namespace lockstep::program {

struct LayerPlace {
  const std::string& name;
  model::Shape input, output;  // inputs are equal where there are several
  arithmetic::ConvolutionRule rule;
  int parameter;  // index of the layer's first parameter in model::parameters_of
};

}  // namespace lockstep::program
