// A network as a graph of layers with shapes, without numbers. It has one input. The loss is softmax cross
// entropy over the last layer. The order of the layers is the law's model order: a layer stands behind all
// layers that it takes its inputs from.
#pragma once
#include <string>
#include <vector>

#include "arithmetic/algorithm.h"
#include "model/layer.h"
#include "model/parameter.h"

namespace lockstep::model {

struct Model {
  std::string name;
  Shape input;
  std::vector<Layer> layers;
  double sigma = 0.01;  // where a layer names no initial values, weights are N(0, sigma) and biases 0
  arithmetic::ConvolutionRule convolution = arithmetic::kUsualConvolution;
};

// Values are numbered: value 0 is the model's input, value i + 1 is what layer i gives.

// By layer: the numbers of the values that the layer takes.
// Throws Error(usage) if a name is missing or used twice, or if layers form a cycle or stand in the wrong
// order.
std::vector<std::vector<int>> inputs_of(const Model& model);

// By value: its shape. Throws Error(usage) as inputs_of does, and if a shape does not fit a layer, a layer
// has the wrong number of inputs, or a layer's value reaches no loss. The error names the layer, its inputs
// and their shapes.
std::vector<Shape> infer_shapes(const Model& model);

// In layer order, weight before bias.
std::vector<Parameter> parameters_of(const Model& model);

// How many classes the loss sees.
int classes_of(const Model& model);

}  // namespace lockstep::model
