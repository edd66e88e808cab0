#include "reference/convolution.h"

#include <cmath>
#include <cstddef>

#include "reference/image_shape.h"
#include "reference/minibatch_sum.h"

namespace lockstep::reference {
namespace {

ImageShape input_of(const arithmetic::ConvolutionShape& s) { return {s.in_channels, s.height, s.width}; }
ImageShape output_of(const arithmetic::ConvolutionShape& s) {
  return {s.out_channels, s.out_height(), s.out_width()};
}
ImageShape weight_of(const arithmetic::ConvolutionShape& s) {
  return {s.group_in_channels(), s.kernel_height, s.kernel_width};
}

// The first input channel of the group that output channel o belongs to, and likewise.
int first_input_for(const arithmetic::ConvolutionShape& s, int o) {
  return o / s.group_out_channels() * s.group_in_channels();
}
int first_output_for(const arithmetic::ConvolutionShape& s, int c) {
  return c / s.group_in_channels() * s.group_out_channels();
}

// A kernel row (or column) and the output row (or column) through which it touches a given pixel.
struct Meeting {
  int tap, output;
};

// In tap order. `position` is the pixel's row (or column).
std::vector<Meeting> meetings(int position, int padding, int taps, int stride, int outputs) {
  std::vector<Meeting> found;
  for (int tap = 0; tap < taps; ++tap) {
    const int distance = position + padding - tap;
    if (distance < 0 || distance % stride != 0 || distance / stride >= outputs) continue;
    found.push_back({tap, distance / stride});
  }
  return found;
}

// The gradient of one weight.
struct WeightGradient {
  const arithmetic::ConvolutionShape& shape;
  ImageShape in, out;
  std::span<const float> x, dy;
  int o, c, ky, kx;  // c within the group

  // The chain goes on by output position (v, u) of example e; a tap in the padding adds nothing.
  float add(float sum, int e, int v, int u) const {
    const int y = v * shape.stride_height + ky - shape.padding_height;
    const int column = u * shape.stride_width + kx - shape.padding_width;
    if (!in.inside(y, column)) return sum;
    return std::fma(dy[out.index(e, o, v, u)], x[in.index(e, first_input_for(shape, o) + c, y, column)], sum);
  }

  float of_lane(int e) const {
    float sum = 0;
    for (int v = 0; v < out.height; ++v) {
      for (int u = 0; u < out.width; ++u) sum = add(sum, e, v, u);
    }
    return sum;
  }

  // A chain a row; rows are added in order.
  float of_pack(int first, int end) const {
    float sum = 0;
    for (int v = 0; v < out.height; ++v) {
      float row = 0;
      for (int u = 0; u < out.width; ++u) {
        for (int e = first; e < end; ++e) row = add(row, e, v, u);
      }
      sum = sum + row;
    }
    return sum;
  }

  float of_minibatch(int examples) const {
    if (algorithms_for(shape, arithmetic::ConvolutionRule::direct).weight_gradient ==
        arithmetic::WeightGradientAlgorithm::per_row) {
      return sum_over_packs(examples, [&](int first, int end) { return of_pack(first, end); });
    }
    return sum_over_lanes(examples, [&](int e) { return of_lane(e); });
  }
};

}  // namespace

std::vector<float> convolution_forward(const arithmetic::ConvolutionShape& shape, int examples,
                                       std::span<const float> x, std::span<const float> weight,
                                       std::span<const float> bias) {
  const ImageShape in = input_of(shape), out = output_of(shape), w = weight_of(shape);
  const auto output = [&](int e, int o, int v, int u) {
    float sum = bias.empty() ? 0.0f : bias[static_cast<std::size_t>(o)];
    const int first = first_input_for(shape, o);
    for (int c = 0; c < w.channels; ++c) {
      for (int ky = 0; ky < w.height; ++ky) {
        for (int kx = 0; kx < w.width; ++kx) {
          const int y = v * shape.stride_height + ky - shape.padding_height;
          const int column = u * shape.stride_width + kx - shape.padding_width;
          if (!in.inside(y, column)) continue;
          sum = std::fma(weight[w.index(o, c, ky, kx)], x[in.index(e, first + c, y, column)], sum);
        }
      }
    }
    return sum + 0.0f;
  };
  std::vector<float> y;
  y.reserve(out.elements(examples));
  for (int e = 0; e < examples; ++e) {
    for (int o = 0; o < out.channels; ++o) {
      for (int v = 0; v < out.height; ++v) {
        for (int u = 0; u < out.width; ++u) y.push_back(output(e, o, v, u));
      }
    }
  }
  return y;
}

std::vector<float> convolution_input_gradient(const arithmetic::ConvolutionShape& shape, int examples,
                                              std::span<const float> dy, std::span<const float> weight) {
  const ImageShape in = input_of(shape), out = output_of(shape), w = weight_of(shape);
  std::vector<float> dx;
  dx.reserve(in.elements(examples));
  for (int e = 0; e < examples; ++e) {
    for (int c = 0; c < in.channels; ++c) {
      const int first = first_output_for(shape, c), of_group = c % w.channels;
      for (int y = 0; y < in.height; ++y) {
        const auto rows = meetings(y, shape.padding_height, w.height, shape.stride_height, out.height);
        for (int column = 0; column < in.width; ++column) {
          const auto columns = meetings(column, shape.padding_width, w.width, shape.stride_width, out.width);
          float sum = 0;
          for (int o = first; o < first + shape.group_out_channels(); ++o) {
            for (const auto [ky, v] : rows) {
              for (const auto [kx, u] : columns) {
                sum = std::fma(weight[w.index(o, of_group, ky, kx)], dy[out.index(e, o, v, u)], sum);
              }
            }
          }
          dx.push_back(sum + 0.0f);
        }
      }
    }
  }
  return dx;
}

std::vector<float> convolution_weight_gradient(const arithmetic::ConvolutionShape& shape, int examples,
                                               std::span<const float> x, std::span<const float> dy) {
  std::vector<float> dw;
  for (int o = 0; o < shape.out_channels; ++o) {
    for (int c = 0; c < shape.group_in_channels(); ++c) {
      for (int ky = 0; ky < shape.kernel_height; ++ky) {
        for (int kx = 0; kx < shape.kernel_width; ++kx) {
          const WeightGradient gradient{shape, input_of(shape), output_of(shape), x, dy, o, c, ky, kx};
          dw.push_back(gradient.of_minibatch(examples));
        }
      }
    }
  }
  return dw;
}

std::vector<float> convolution_bias_gradient(const arithmetic::ConvolutionShape& shape, int examples,
                                             std::span<const float> dy) {
  const ImageShape out = output_of(shape);
  std::vector<float> db;
  db.reserve(static_cast<std::size_t>(out.channels));
  for (int o = 0; o < out.channels; ++o) {
    db.push_back(sum_over_lanes(examples, [&](int e) {
      float sum = 0;
      for (int v = 0; v < out.height; ++v) {
        for (int u = 0; u < out.width; ++u) sum = sum + dy[out.index(e, o, v, u)];
      }
      return sum;
    }));
  }
  return db;
}

}  // namespace lockstep::reference
