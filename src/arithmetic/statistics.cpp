#include "arithmetic/statistics.h"

#include <cmath>

namespace lockstep::arithmetic {

void join_statistics(float* left, const float* right, std::size_t channels) {
  float* const number = left;
  float* const mean = left + channels;
  float* const squares = left + 2 * channels;
  for (std::size_t c = 0; c < channels; ++c) {
    const float right_number = right[c], right_mean = right[channels + c],
                right_squares = right[2 * channels + c];
    const float total = number[c] + right_number;
    const float delta = right_mean - mean[c];
    const float share = right_number / total;
    squares[c] = std::fma(delta * delta, number[c] * share, squares[c] + right_squares);
    mean[c] = std::fma(delta, share, mean[c]);
    number[c] = total;
  }
}

}  // namespace lockstep::arithmetic
