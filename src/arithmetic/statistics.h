// How the statistics of two sets of values meet: number, mean, and sum of squared deviations from the mean.
#pragma once
#include <cstddef>

namespace lockstep::arithmetic {

// [3][channels] each: the statistics of both sets, in place in the left one (docs/arithmetic.md, "Statistics
// that meet").
void join_statistics(float* left, const float* right, std::size_t channels);

}  // namespace lockstep::arithmetic
