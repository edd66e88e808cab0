#include "reference/pool.h"

#include <cmath>
#include <cstddef>

#include "reference/image_shape.h"

namespace lockstep::reference {
namespace {

ImageShape input_of(const PoolShape& s) { return {s.channels, s.height, s.width}; }
ImageShape output_of(const PoolShape& s) { return {s.channels, s.out_height(), s.out_width()}; }

// The indices in x of a window's taps inside the image, in (ky, kx) order.
std::vector<std::size_t> taps(const PoolShape& shape, int e, int c, int v, int u) {
  const ImageShape in = input_of(shape);
  std::vector<std::size_t> inside;
  for (int ky = 0; ky < shape.window_height; ++ky) {
    for (int kx = 0; kx < shape.window_width; ++kx) {
      const int y = v * shape.stride_height + ky - shape.padding_height;
      const int x = u * shape.stride_width + kx - shape.padding_width;
      if (in.inside(y, x)) inside.push_back(in.index(e, c, y, x));
    }
  }
  return inside;
}

// Calls visit(index in y, taps) for every window, in (y, x) order within an image.
template <class Visit>
void visit_windows(const PoolShape& shape, int examples, Visit visit) {
  const ImageShape out = output_of(shape);
  for (int e = 0; e < examples; ++e) {
    for (int c = 0; c < out.channels; ++c) {
      for (int v = 0; v < out.height; ++v) {
        for (int u = 0; u < out.width; ++u) visit(out.index(e, c, v, u), taps(shape, e, c, v, u));
      }
    }
  }
}

float share(const PoolShape& shape) {
  return 1.0f / static_cast<float>(shape.window_height * shape.window_width);
}

float average(const PoolShape& shape, std::span<const float> x, const std::vector<std::size_t>& window) {
  const bool two_by_two = shape.window_height == 2 && shape.window_width == 2;
  if (two_by_two && window.size() == 4) {
    return ((x[window[0]] + x[window[1]]) + (x[window[2]] + x[window[3]])) * 0.25f + 0.0f;
  }
  float sum = 0;
  for (const std::size_t tap : window) sum = sum + x[tap];
  return sum * share(shape) + 0.0f;
}

std::size_t maximum(std::span<const float> x, const std::vector<std::size_t>& window) {
  std::size_t chosen = window.front();
  for (const std::size_t tap : window) {
    if (x[tap] > x[chosen] || (std::isnan(x[tap]) && !std::isnan(x[chosen]))) chosen = tap;
  }
  return chosen;
}

}  // namespace

std::vector<float> average_pool_forward(const PoolShape& shape, int examples, std::span<const float> x) {
  std::vector<float> y(output_of(shape).elements(examples));
  visit_windows(shape, examples,
                [&](std::size_t i, const auto& window) { y[i] = average(shape, x, window); });
  return y;
}

std::vector<float> average_pool_gradient(const PoolShape& shape, int examples, std::span<const float> dy) {
  std::vector<float> dx(input_of(shape).elements(examples));
  visit_windows(shape, examples, [&](std::size_t i, const auto& window) {
    for (const std::size_t tap : window) dx[tap] = dx[tap] + dy[i] * share(shape);
  });
  return dx;
}

std::vector<float> max_pool_forward(const PoolShape& shape, int examples, std::span<const float> x) {
  std::vector<float> y(output_of(shape).elements(examples));
  visit_windows(shape, examples,
                [&](std::size_t i, const auto& window) { y[i] = x[maximum(x, window)] + 0.0f; });
  return y;
}

std::vector<float> max_pool_gradient(const PoolShape& shape, int examples, std::span<const float> x,
                                     std::span<const float> dy) {
  std::vector<float> dx(input_of(shape).elements(examples));
  visit_windows(shape, examples, [&](std::size_t i, const auto& window) {
    const std::size_t chosen = maximum(x, window);
    dx[chosen] = dx[chosen] + dy[i];
  });
  return dx;
}

}  // namespace lockstep::reference
