// What a layer is told about the values it takes, and what an error message about the layer must name.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/shape.h"

namespace lockstep::model {

// A pack of such examples is a gigabyte, and an offset in bytes inside it is an int.
constexpr int kMostElements = 1 << 24;

struct LayerInput {
  std::string_view from;  // the layer that gives it, or "the input"
  Shape shape;
};

struct LayerInputs {
  std::string_view layer;
  std::vector<LayerInput> inputs;

  const LayerInput& first() const { return inputs.front(); }
  const Shape& shape() const { return first().shape; }
};

std::string to_string(const Extent& extent);   // "3x5"
std::string to_string(const LayerInputs& in);  // "20x13x13 from relu1 and 50x9x9 from conv2"

// Both throw Error(usage) that names the layer, the fault and the input.
void check_count(const LayerInputs& in, std::string_view what, int count);  // at least 1
void check_size(const LayerInputs& in, std::string_view what, const Extent& extent, int least);

}  // namespace lockstep::model
