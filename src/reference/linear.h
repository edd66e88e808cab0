// Naive twins of the linear layer. x [example][in], y and dy [example][out], weight (out, in), bias (out) or
// empty: then chains start at +0.
#pragma once
#include <span>
#include <vector>

namespace lockstep::reference {

struct LinearShape {
  int in_units = 0, out_units = 0;
};

std::vector<float> linear_forward(const LinearShape& shape, int examples, std::span<const float> x,
                                  std::span<const float> weight, std::span<const float> bias);

std::vector<float> linear_input_gradient(const LinearShape& shape, int examples, std::span<const float> dy,
                                         std::span<const float> weight);

// Sums over the minibatch, not divided.
std::vector<float> linear_weight_gradient(const LinearShape& shape, int examples, std::span<const float> x,
                                          std::span<const float> dy);

// Sums over the minibatch, not divided: [out].
std::vector<float> linear_bias_gradient(const LinearShape& shape, int examples, std::span<const float> dy);

}  // namespace lockstep::reference
