// How far each pass of a convolution is from exact arithmetic, direct and with tiles of fast convolution: a
// line of JSON each.
//
//   kernel_error weights.safetensors
//
// The naive twins compute it. The kernels have their bits (the tests hold that), and twins take plain
// tensors.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>

#include <fmt/format.h>

#include "arithmetic/normal.h"
#include "base/error.h"
#include "base/random.h"
#include "data/dataset.h"
#include "model/zoo.h"
#include "reference/convolution.h"
#include "reference/linear.h"
#include "reference/network.h"
#include "reference/pool.h"
#include "reference/relu.h"
#include "reference/softmax_cross_entropy.h"
#include "reference/winograd.h"
#include "store/tensor_file.h"

namespace lockstep {
namespace {

using arithmetic::ConvolutionShape;
using reference::Tensor;
using Exact = std::vector<double>;

// A layer's operands, [example][channel][y][x], and the tiles that are compared.
struct Operands {
  std::string name;
  ConvolutionShape shape;
  std::vector<int> tiles;
  int examples;
  Tensor x, weights, dy;
};

std::size_t at(int channels, int height, int width, int e, int c, int y, int x) {
  return ((static_cast<std::size_t>(e) * static_cast<std::size_t>(channels) + static_cast<std::size_t>(c)) *
              static_cast<std::size_t>(height) +
          static_cast<std::size_t>(y)) *
             static_cast<std::size_t>(width) +
         static_cast<std::size_t>(x);
}

// Every product of the layer's sum: (index in y, in x, in the weights).
void for_each_product(const Operands& o,
                      const std::function<void(std::size_t y, std::size_t x, std::size_t w)>& visit) {
  const ConvolutionShape& s = o.shape;
  const int kernel = s.kernel_height;
  for (int e = 0; e < o.examples; ++e) {
    for (int out = 0; out < s.out_channels; ++out) {
      for (int v = 0; v < s.out_height(); ++v) {
        for (int u = 0; u < s.out_width(); ++u) {
          const std::size_t y = at(s.out_channels, s.out_height(), s.out_width(), e, out, v, u);
          for (int c = 0; c < s.in_channels; ++c) {
            for (int tap = 0; tap < kernel * kernel; ++tap) {
              const int row = v + tap / kernel - s.padding_height,
                        column = u + tap % kernel - s.padding_width;
              if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
              visit(y, at(s.in_channels, s.height, s.width, e, c, row, column),
                    at(s.in_channels, kernel, kernel, out, c, tap / kernel, tap % kernel));
            }
          }
        }
      }
    }
  }
}

// Both relative to the root mean square of the exact result.
void print_error(const Operands& o, const char* pass, int tile, const Tensor& found, const Exact& exact) {
  double squares = 0, errors = 0, most = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = found[i] - exact[i];
    squares += exact[i] * exact[i];
    errors += error * error;
    most = std::max(most, std::abs(error));
  }
  const double scale = std::sqrt(squares / static_cast<double>(exact.size()));
  fmt::print(R"({{"data": "{}", "pass": "{}", "tile": {}, "rms": {:.3e}, "max": {:.3e}}})"
             "\n",
             o.name, pass, tile, std::sqrt(errors / squares), most / scale);
}

// Tile 0 is direct.
void print_errors(const Operands& o) {
  const Tensor bias(static_cast<std::size_t>(o.shape.out_channels), 0.0f);
  Exact y(o.dy.size()), dx(o.x.size()), dw(o.weights.size());
  for_each_product(o, [&](std::size_t iy, std::size_t ix, std::size_t iw) {
    y[iy] += static_cast<double>(o.x[ix]) * o.weights[iw];
    dx[ix] += static_cast<double>(o.dy[iy]) * o.weights[iw];
    dw[iw] += static_cast<double>(o.dy[iy]) * o.x[ix];
  });
  print_error(o, "forward", 0, reference::convolution_forward(o.shape, o.examples, o.x, o.weights, bias), y);
  print_error(o, "input gradient", 0,
              reference::convolution_input_gradient(o.shape, o.examples, o.dy, o.weights), dx);
  print_error(o, "weight gradient", 0, reference::convolution_weight_gradient(o.shape, o.examples, o.x, o.dy),
              dw);
  for (const int tile : o.tiles) {
    print_error(o, "forward", tile,
                reference::winograd_forward(o.shape, tile, o.examples, o.x, o.weights, bias), y);
    print_error(o, "input gradient", tile,
                reference::winograd_input_gradient(o.shape, tile, o.examples, o.dy, o.weights), dx);
    print_error(o, "weight gradient", tile,
                reference::winograd_weight_gradient(o.shape, tile, o.examples, o.x, o.dy), dw);
  }
}

constexpr ConvolutionShape kConv2{
    .in_channels = 20, .out_channels = 50, .height = 13, .width = 13, .kernel_height = 5, .kernel_width = 5};

// x, weights and dy of LeNet's second convolution at the first 256 pictures of the test set.
Operands trained(const char* path) {
  constexpr int kExamples = 256;
  const model::Model lenet = model::lenet();
  const data::Dataset test = data::load_mnist_like(data::default_fashion_mnist_directory()).test;
  const std::span<const std::uint8_t> labels = std::span(test.labels).first(kExamples);
  Tensor images;
  for (const std::uint8_t pixel : std::span(test.pixels).first(kExamples * test.example_bytes()))
    images.push_back(static_cast<float>(pixel) / 255.0f);
  std::vector<Tensor> parameters;
  const store::TensorFile file = store::read_tensor_file(path);
  for (const model::Parameter& parameter : model::parameters_of(lenet)) {
    const auto tensor = std::ranges::find(file.tensors, parameter.name, &store::Tensor::name);
    if (tensor == file.tensors.end()) throw Error(Fault::data, "{} has no {}", path, parameter.name);
    parameters.push_back(tensor->values);
  }
  // layers: conv1 relu pool conv2 relu pool flatten linear relu linear
  const std::vector<Tensor> a = reference::forward(lenet, parameters, kExamples, images);
  const reference::Loss loss = reference::softmax_cross_entropy(10, a.back(), labels);
  Tensor dy = reference::linear_input_gradient({128, 10}, kExamples, loss.dz, parameters[6]);
  dy = reference::relu_gradient(a[9], dy);
  dy = reference::linear_input_gradient({800, 128}, kExamples, dy, parameters[4]);
  dy = reference::average_pool_gradient({50, 9, 9, 2, 2, 2, 2}, kExamples, dy);
  dy = reference::relu_gradient(a[5], dy);
  return {"trained LeNet, conv2", kConv2, {4}, kExamples, a[3], parameters[2], dy};
}

Tensor gaussian(std::size_t count, const char* what) {
  Tensor values(count);
  const std::uint32_t stream = stream_id(what);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(arithmetic::normal_of_word(random_block(0, i / 4, 0, stream)[i % 4]));
  }
  return values;
}

Operands gaussian(const std::string& name, const ConvolutionShape& s, const std::vector<int>& tiles,
                  int examples) {
  const auto inputs = at(s.in_channels, s.height, s.width, examples, 0, 0, 0);
  const auto outputs = at(s.out_channels, s.out_height(), s.out_width(), examples, 0, 0, 0);
  const auto weights = at(s.in_channels, s.kernel_height, s.kernel_width, s.out_channels, 0, 0, 0);
  return {name,
          s,
          tiles,
          examples,
          gaussian(inputs, "error:x"),
          gaussian(weights, "error:weights"),
          gaussian(outputs, "error:dy")};
}

ConvolutionShape square(int channels, int side) {
  return {.in_channels = channels,
          .out_channels = channels,
          .height = side,
          .width = side,
          .kernel_height = 3,
          .kernel_width = 3,
          .padding_height = 1,
          .padding_width = 1};
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  using namespace lockstep;
  if (argc != 2) return std::fputs("usage: kernel_error weights.safetensors\n", stderr), 2;
  try {
    print_errors(trained(argv[1]));
    print_errors(gaussian("Gaussian, conv2 of LeNet", kConv2, {4}, 64));
    print_errors(gaussian("Gaussian, 64 channels, 28x28, 3x3", square(64, 28), {4, 7}, 16));
    print_errors(gaussian("Gaussian, 128 channels, 14x14, 3x3", square(128, 14), {4, 7}, 16));
    print_errors(gaussian("Gaussian, 256 channels, 7x7, 3x3", square(256, 7), {4, 7}, 16));
    print_errors(gaussian("Gaussian, 64 channels, 6x6, 3x3", square(64, 6), {2, 4, 7}, 16));
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "kernel_error: %s\n", error.what()), 1;
  }
  return 0;
}
