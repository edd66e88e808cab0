#include "reference/winograd.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "reference/image_shape.h"
#include "reference/minibatch_sum.h"
#include "reference/toom_cook.h"

namespace lockstep::reference {
namespace {

using Planes = std::vector<Plane>;

struct Corner {
  int top, left;
};

// A square of one channel of one example; it may overhang the image.
struct Square {
  const ImageShape& image;
  int example, channel;
  Corner corner;
  std::size_t side;

  // Calls visit(row of the square, column of the square, index in the tensor) for what lies inside the image.
  template <class Visit>
  void visit_inside(Visit visit) const {
    for (std::size_t i = 0; i < side; ++i) {
      for (std::size_t j = 0; j < side; ++j) {
        const int y = corner.top + static_cast<int>(i), x = corner.left + static_cast<int>(j);
        if (image.inside(y, x)) visit(i, j, image.index(example, channel, y, x));
      }
    }
  }

  // Elements outside are zero.
  Plane cut_from(std::span<const float> tensor) const {
    Plane plane(side, Line(side));
    visit_inside([&](std::size_t i, std::size_t j, std::size_t at) { plane[i][j] = tensor[at]; });
    return plane;
  }
};

// Every frequency's chain goes on by one product. Nearly all of the work is here, so indices go unchecked.
void add_product(Plane& sums, const Plane& a, const Plane& b) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    float* sum = sums[i].data();
    const float *left = a[i].data(), *right = b[i].data();
    for (std::size_t j = 0; j < sums.size(); ++j) sum[j] = std::fma(left[j], right[j], sum[j]);
  }
}

struct Layer {
  const arithmetic::ConvolutionShape& shape;
  ToomCook toom_cook;
  ImageShape in{shape.in_channels, shape.height, shape.width};
  ImageShape out{shape.out_channels, shape.out_height(), shape.out_width()};
  ImageShape kernels{shape.group_in_channels(), shape.kernel_height, shape.kernel_width};

  Layer(const arithmetic::ConvolutionShape& whole, int tile)
      : shape(whole), toom_cook(tile, whole.kernel_height) {}

  // The first input channel of the group that output channel o belongs to, and likewise.
  int first_input_for(int o) const { return o / shape.group_out_channels() * shape.group_in_channels(); }
  int first_output_for(int c) const { return c / shape.group_in_channels() * shape.group_out_channels(); }

  std::size_t frequencies() const { return toom_cook.frequencies(); }
  Plane no_sums() const { return Plane(frequencies(), Line(frequencies())); }

  // Where each tile's outputs begin, in tile order.
  std::vector<Corner> tiles() const {
    std::vector<Corner> corners;
    for (int top = 0; top < out.height; top += toom_cook.tile) {
      for (int left = 0; left < out.width; left += toom_cook.tile) corners.push_back({top, left});
    }
    return corners;
  }
  Square outputs_of(Corner tile, int example, int o) const {
    return {out, example, o, tile, static_cast<std::size_t>(toom_cook.tile)};
  }
  Square inputs_of(Corner tile, int example, int c) const {
    const Corner corner{tile.top - shape.padding_height, tile.left - shape.padding_width};
    return {in, example, c, corner, frequencies()};
  }

  // In frequencies, (out channel, in channel of the group).
  Planes weights(std::span<const float> weight) const {
    Planes planes;
    for (int o = 0; o < out.channels; ++o) {
      for (int c = 0; c < kernels.channels; ++c) {
        const Square taps{kernels, o, c, {0, 0}, static_cast<std::size_t>(shape.kernel_height)};
        planes.push_back(toom_cook.in_two_dimensions(&ToomCook::of_weights, taps.cut_from(weight)));
      }
    }
    return planes;
  }
  std::size_t weight_index(int o, int c) const {
    return ImageShape{kernels.channels, 1, 1}.index(o, c, 0, 0);
  }

  // In frequencies, by input channel.
  Planes inputs(std::span<const float> x, int example, Corner tile) const {
    Planes planes;
    for (int c = 0; c < in.channels; ++c) {
      const Plane pixels = inputs_of(tile, example, c).cut_from(x);
      planes.push_back(toom_cook.in_two_dimensions(&ToomCook::of_input, pixels));
    }
    return planes;
  }

  // In frequencies, by output channel.
  Planes output_gradients(std::span<const float> dy, int example, Corner tile) const {
    Planes planes;
    for (int o = 0; o < out.channels; ++o) {
      const Plane gradients = outputs_of(tile, example, o).cut_from(dy);
      planes.push_back(toom_cook.in_two_dimensions(&ToomCook::of_output_gradient, gradients));
    }
    return planes;
  }

  // (out channel, in channel of the group, ky, kx) of the examples of one pack
  std::vector<float> weight_gradient_of_pack(int first, int end, std::span<const float> x,
                                             std::span<const float> dy) const {
    Planes sums(weight_index(out.channels, 0), no_sums());
    for (const Corner tile : tiles()) {
      for (int e = first; e < end; ++e) {
        const Planes pixels = inputs(x, e, tile), gradients = output_gradients(dy, e, tile);
        for (int o = 0; o < out.channels; ++o) {
          const Plane* const own = &pixels[static_cast<std::size_t>(first_input_for(o))];
          for (int c = 0; c < kernels.channels; ++c)
            add_product(sums[weight_index(o, c)], gradients[static_cast<std::size_t>(o)], own[c]);
        }
      }
    }
    std::vector<float> dw;
    for (const Plane& sum : sums) {
      for (const Line& row : toom_cook.in_two_dimensions(&ToomCook::weight_gradient, sum)) {
        dw.insert(dw.end(), row.begin(), row.end());
      }
    }
    return dw;
  }
};

}  // namespace

std::vector<float> winograd_forward(const arithmetic::ConvolutionShape& shape, int tile, int examples,
                                    std::span<const float> x, std::span<const float> weight,
                                    std::span<const float> bias) {
  const Layer layer(shape, tile);
  const Planes weights = layer.weights(weight);
  std::vector<float> y(layer.out.elements(examples));
  for (int e = 0; e < examples; ++e) {
    for (const Corner corner : layer.tiles()) {
      const Planes inputs = layer.inputs(x, e, corner);
      for (int o = 0; o < shape.out_channels; ++o) {
        Plane sums = layer.no_sums();
        const Plane* const own = &inputs[static_cast<std::size_t>(layer.first_input_for(o))];
        for (int c = 0; c < shape.group_in_channels(); ++c)
          add_product(sums, weights[layer.weight_index(o, c)], own[c]);
        const Plane outputs = layer.toom_cook.in_two_dimensions(&ToomCook::output, sums);
        const auto finish = [&](std::size_t i, std::size_t j, std::size_t at) {
          const float sum = outputs[i][j];
          y[at] = (bias.empty() ? sum : sum + bias[static_cast<std::size_t>(o)]) + 0.0f;
        };
        layer.outputs_of(corner, e, o).visit_inside(finish);
      }
    }
  }
  return y;
}

std::vector<float> winograd_input_gradient(const arithmetic::ConvolutionShape& shape, int tile, int examples,
                                           std::span<const float> dy, std::span<const float> weight) {
  const Layer layer(shape, tile);
  const Planes weights = layer.weights(weight);
  std::vector<float> dx(layer.in.elements(examples));
  for (int e = 0; e < examples; ++e) {
    for (const Corner corner : layer.tiles()) {
      const Planes gradients = layer.output_gradients(dy, e, corner);
      for (int c = 0; c < shape.in_channels; ++c) {
        Plane sums = layer.no_sums();
        const int first = layer.first_output_for(c), of_group = c % shape.group_in_channels();
        for (int o = first; o < first + shape.group_out_channels(); ++o) {
          add_product(sums, weights[layer.weight_index(o, of_group)], gradients[static_cast<std::size_t>(o)]);
        }
        const Plane pixels = layer.toom_cook.in_two_dimensions(&ToomCook::input_gradient, sums);
        const auto add = [&](std::size_t i, std::size_t j, std::size_t at) {
          dx[at] = dx[at] + pixels[i][j];  // from +0, so never -0
        };
        layer.inputs_of(corner, e, c).visit_inside(add);
      }
    }
  }
  return dx;
}

std::vector<float> winograd_weight_gradient(const arithmetic::ConvolutionShape& shape, int tile, int examples,
                                            std::span<const float> x, std::span<const float> dy) {
  const Layer layer(shape, tile);
  std::vector<std::vector<float>> of_pack;
  for (int first = 0; first < examples; first += arithmetic::kPack) {
    of_pack.push_back(
        layer.weight_gradient_of_pack(first, std::min(first + arithmetic::kPack, examples), x, dy));
  }
  std::vector<float> dw;
  dw.reserve(of_pack.front().size());
  for (std::size_t i = 0; i < of_pack.front().size(); ++i) {
    dw.push_back(sum_over_packs(examples, [&](int first, int) {
      return of_pack[static_cast<std::size_t>(first / arithmetic::kPack)][i];
    }));
  }
  return dw;
}

}  // namespace lockstep::reference
