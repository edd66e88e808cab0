// Naive twins of fast convolution (Winograd, Toom-Cook): every tile is transformed, frequencies are chains
// over channels, the sums are transformed back. Layouts and biases are those of convolution.h. Requires
// stride 1, a square kernel of 3 or 5 and `tile` outputs a side: 2, 4, or under a kernel of 3 also 7.
#pragma once
#include <span>
#include <vector>

#include "arithmetic/algorithm.h"

namespace lockstep::reference {

std::vector<float> winograd_forward(const arithmetic::ConvolutionShape& shape, int tile, int examples,
                                    std::span<const float> x, std::span<const float> weight,
                                    std::span<const float> bias);

std::vector<float> winograd_input_gradient(const arithmetic::ConvolutionShape& shape, int tile, int examples,
                                           std::span<const float> dy, std::span<const float> weight);

// Sums over the minibatch, not divided. The bias gradient is convolution_bias_gradient.
std::vector<float> winograd_weight_gradient(const arithmetic::ConvolutionShape& shape, int tile, int examples,
                                            std::span<const float> x, std::span<const float> dy);

}  // namespace lockstep::reference
