// Naive twins of average and maximum pooling. x and dx [example][channel][y][x] of the input, y and dy
// likewise of the output. Windows that overhang the padded image do not exist.
#pragma once
#include <span>
#include <vector>

namespace lockstep::reference {

struct PoolShape {
  int channels = 0, height = 0, width = 0;  // of the input
  int window_height = 0, window_width = 0;
  int stride_height = 1, stride_width = 1;
  int padding_height = 0, padding_width = 0;

  int out_height() const { return (height + 2 * padding_height - window_height) / stride_height + 1; }
  int out_width() const { return (width + 2 * padding_width - window_width) / stride_width + 1; }
};

// Padding counts in the divisor.
std::vector<float> average_pool_forward(const PoolShape& shape, int examples, std::span<const float> x);
std::vector<float> average_pool_gradient(const PoolShape& shape, int examples, std::span<const float> dy);

// Padding is never chosen; the first of equals is; a NaN is chosen and stays.
std::vector<float> max_pool_forward(const PoolShape& shape, int examples, std::span<const float> x);
std::vector<float> max_pool_gradient(const PoolShape& shape, int examples, std::span<const float> x,
                                     std::span<const float> dy);

}  // namespace lockstep::reference
