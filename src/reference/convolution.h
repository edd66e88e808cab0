// Naive twins of the direct convolution: one output after the other, one fma chain each.
// x [example][in channel][y][x], y and dy [example][out channel][y][x], weight (out, in of a group, ky, kx),
// bias (out) or empty: then chains start at +0.
#pragma once
#include <span>
#include <vector>

#include "arithmetic/algorithm.h"

namespace lockstep::reference {

std::vector<float> convolution_forward(const arithmetic::ConvolutionShape& shape, int examples,
                                       std::span<const float> x, std::span<const float> weight,
                                       std::span<const float> bias);

std::vector<float> convolution_input_gradient(const arithmetic::ConvolutionShape& shape, int examples,
                                              std::span<const float> dy, std::span<const float> weight);

// Sums over the minibatch, not divided; per lane or per pack as algorithms_for says of direct layers.
std::vector<float> convolution_weight_gradient(const arithmetic::ConvolutionShape& shape, int examples,
                                               std::span<const float> x, std::span<const float> dy);

// Sums over the minibatch, not divided: [out channel].
std::vector<float> convolution_bias_gradient(const arithmetic::ConvolutionShape& shape, int examples,
                                             std::span<const float> dy);

}  // namespace lockstep::reference
