// A network as layers and shapes, without numbers. The loss is softmax cross entropy over the last layer.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "arithmetic/algorithm.h"
#include "model/layer.h"

namespace lockstep::model {

struct Model {
  std::string name;
  Shape input;
  std::vector<Layer> layers;
  double sigma = 0.01;  // initial weights are N(0, sigma), biases 0
  arithmetic::ConvolutionRule convolution = arithmetic::kUsualConvolution;
};

// Shapes of the chain: entry 0 is the input, entry i + 1 what layer i gives.
// Throws Error(usage) naming the layer and both shapes where they do not fit.
std::vector<Shape> infer_shapes(const Model& model);

// A tensor that training changes. Element order and name are PyTorch's.
struct Parameter {
  enum class Role { weight, bias };
  std::string name;                 // conv1.weight
  std::vector<std::int64_t> shape;  // (out, in, height, width), (out, in) or (out)
  int layer = 0;                    // index in Model::layers
  Role role = Role::weight;

  std::size_t elements() const;
};

// In layer order, weight before bias.
std::vector<Parameter> parameters_of(const Model& model);

// How many classes the loss sees.
int classes_of(const Model& model);

}  // namespace lockstep::model
