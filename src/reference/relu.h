// Naive twins of ReLU.
#pragma once
#include <span>
#include <vector>

namespace lockstep::reference {

// NaN passes; everything else that is not positive becomes +0.
std::vector<float> relu_forward(std::span<const float> x);

// dy where the output y is positive, else +0.
std::vector<float> relu_gradient(std::span<const float> y, std::span<const float> dy);

}  // namespace lockstep::reference
