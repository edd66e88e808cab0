// The sizes an instruction works on, after trimming: what a kernel needs to know and nothing of the model.
#pragma once
#include <string>

#include "arithmetic/algorithm.h"
#include "model/shape.h"

namespace lockstep::program {

using model::Extent;
using model::Shape;

// A layer that multiplies. A linear layer is a convolution of 1x1 on 1x1.
// input and output may be smaller than the layer's own: rows and columns that never reach the loss are cut
// off at the bottom and at the right.
struct Convolution {
  Shape input, output;
  Extent kernel{1, 1}, stride{1, 1}, padding{0, 0};
  int groups = 1;
  arithmetic::ConvolutionAlgorithms algorithms{
      .weight_gradient = arithmetic::WeightGradientAlgorithm::per_row};  // of the whole layer

  int taps() const { return kernel.height * kernel.width; }
  // One input, one output and one tap that connects them: packs can stand where positions do.
  bool linear() const {
    return groups == 1 && taps() == 1 && input.flat() && output.flat() && stride == Extent{1, 1} &&
           padding == Extent{0, 0};
  }
  std::size_t weights() const {
    return static_cast<std::size_t>(output.channels) * static_cast<std::size_t>(input.channels / groups) *
           static_cast<std::size_t>(taps());
  }
  // The convolution that each group is, with its own part of the channels, weights and biases: they lie one
  // group behind the other.
  Convolution of_group() const {
    Convolution group = *this;
    group.input.channels /= groups;
    group.output.channels /= groups;
    group.groups = 1;
    return group;
  }
  bool operator==(const Convolution&) const = default;
};

// A sliding window without parameters.
struct Pool {
  enum class Kind { average, maximum };
  Kind kind = Kind::average;
  Shape input, output;
  Extent window, stride, padding;
  bool operator==(const Pool&) const = default;
};

// What a convolution does to a finished tile before it is stored.
enum class Epilogue {
  none,
  relu,
  relu_average_pool,  // 2x2 windows, stride 2; keeps a mask of what relu blocked
};

// The sizes in words, as a printed program shows them.
std::string to_string(const Convolution& convolution);
std::string to_string(const Pool& pool);

// Multiply-adds of one example that reach the loss: taps inside the image, over all outputs.
double multiply_adds(const Convolution& convolution);

}  // namespace lockstep::program
