// Naive twin of the residual sum.
#pragma once
#include <span>
#include <vector>

namespace lockstep::reference {

// Element by element, one add, stored as it stands. Its gradient is dy for both operands.
// Gradients that meet at a value are added with this function, too.
std::vector<float> add(std::span<const float> a, std::span<const float> b);

}  // namespace lockstep::reference
