// The twin against double, and the orders of roundings that the law states. With tiles of 2 and kernels of 3
// every constant is a power of two, so small integers stay exact and only the order can lose a 1.
#include "reference/winograd.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

#include "arithmetic/normal.h"
#include "base/random.h"
#include "base/same_bits_for_test.h"
#include "reference/image_shape.h"

namespace lockstep::reference {
namespace {

using Tensor = std::vector<float>;
constexpr float kBig = 0x1p+30f;  // swallows a 1 that is added to it

// ---- against double

Tensor gaussian(std::size_t count, std::string_view name) {
  Tensor values(count);
  const std::uint32_t stream = stream_id(name);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(arithmetic::normal_of_word(random_block(5, i, 0, stream)[0]));
  }
  return values;
}

struct Case {
  arithmetic::ConvolutionShape shape;
  int tile, examples;

  ImageShape in() const { return {shape.in_channels, shape.height, shape.width}; }
  ImageShape out() const { return {shape.out_channels, shape.out_height(), shape.out_width()}; }
  ImageShape kernels() const { return {shape.in_channels, shape.kernel_height, shape.kernel_width}; }

  // Calls visit(output index, input index, weight index) for every product of the convolution.
  template <class Visit>
  void visit_products(Visit visit) const {
    for (int e = 0; e < examples; ++e)
      for (int o = 0; o < shape.out_channels; ++o)
        for (int c = 0; c < shape.in_channels; ++c)
          for (int ky = 0; ky < shape.kernel_height; ++ky)
            for (int kx = 0; kx < shape.kernel_width; ++kx)
              for (int v = 0; v < shape.out_height(); ++v)
                for (int u = 0; u < shape.out_width(); ++u) {
                  const int y = v + ky - shape.padding_height, column = u + kx - shape.padding_width;
                  if (!in().inside(y, column)) continue;
                  visit(out().index(e, o, v, u), in().index(e, c, y, column), kernels().index(o, c, ky, kx));
                }
  }
};

// The root of the mean squared error, in units of the root of the mean square.
double relative_error(const Tensor& result, const std::vector<double>& exact) {
  EXPECT_EQ(result.size(), exact.size());
  double error = 0, square = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error += (result[i] - exact[i]) * (result[i] - exact[i]);
    square += exact[i] * exact[i];
  }
  return std::sqrt(error / square);
}

void check_against_double(const Case& c) {
  const Tensor x = gaussian(c.in().elements(c.examples), "x"),
               dy = gaussian(c.out().elements(c.examples), "dy");
  const Tensor weight = gaussian(c.kernels().elements(c.shape.out_channels), "weight");
  const Tensor bias = gaussian(static_cast<std::size_t>(c.shape.out_channels), "bias");

  std::vector<double> y(dy.size()), dx(x.size()), dw(weight.size());
  const std::size_t plane = c.out().index(0, 1, 0, 0);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = bias[i / plane % bias.size()];
  c.visit_products([&](std::size_t output, std::size_t input, std::size_t tap) {
    y[output] += double{weight[tap]} * double{x[input]};
    dx[input] += double{weight[tap]} * double{dy[output]};
    dw[tap] += double{x[input]} * double{dy[output]};
  });
  // up to 3.1e-7, 1.2e-6 and 3.7e-6 are seen, and with nine frequencies ten times what six give
  // (docs/accuracy.md): more frequencies, larger constants, less accuracy
  const int frequencies = c.tile + c.shape.kernel_height - 1;
  const double bound = frequencies == 4 ? 5e-7 : frequencies == 6 ? 2e-6 : frequencies == 8 ? 5e-6 : 1.5e-5;
  EXPECT_LT(relative_error(winograd_forward(c.shape, c.tile, c.examples, x, weight, bias), y), bound);
  EXPECT_LT(relative_error(winograd_input_gradient(c.shape, c.tile, c.examples, dy, weight), dx), bound);
  EXPECT_LT(relative_error(winograd_weight_gradient(c.shape, c.tile, c.examples, x, dy), dw), bound);
}

arithmetic::ConvolutionShape square_kernel(int kernel, int padding, int height, int width) {
  return {.in_channels = 1,
          .out_channels = 1,
          .height = height,
          .width = width,
          .kernel_height = kernel,
          .kernel_width = kernel,
          .padding_height = padding,
          .padding_width = padding};
}

arithmetic::ConvolutionShape with_channels(arithmetic::ConvolutionShape shape, int in_channels,
                                           int out_channels) {
  shape.in_channels = in_channels;
  shape.out_channels = out_channels;
  return shape;
}

TEST(Winograd, IsConvolution) {
  check_against_double({with_channels(square_kernel(3, 0, 5, 7), 16, 17), 2, 37});
  check_against_double({with_channels(square_kernel(3, 1, 7, 7), 32, 16), 4, 20});
  check_against_double({with_channels(square_kernel(3, 2, 3, 6), 20, 33), 4, 16});
  check_against_double({with_channels(square_kernel(3, 3, 1, 2), 16, 16), 2, 1});
  check_against_double({with_channels(square_kernel(3, 4, 2, 3), 16, 16), 4, 37});
  check_against_double({with_channels(square_kernel(3, 1, 7, 14), 32, 17), 7, 20});
  check_against_double({with_channels(square_kernel(3, 0, 8, 10), 16, 33), 7, 1});
  check_against_double({with_channels(square_kernel(3, 4, 2, 3), 16, 16), 7, 37});
  check_against_double({with_channels(square_kernel(5, 0, 12, 11), 20, 50), 4, 16});
  check_against_double({with_channels(square_kernel(5, 1, 6, 9), 18, 16), 2, 20});
  check_against_double({with_channels(square_kernel(5, 2, 5, 4), 65, 16), 2, 1});
  check_against_double({with_channels(square_kernel(5, 3, 6, 3), 16, 65), 4, 37});
  check_against_double({with_channels(square_kernel(5, 4, 4, 1), 16, 16), 4, 20});
}

// ---- the passes: tiles of 2, kernels of 3

// Every tensor the same pattern in each of its channels or examples, times that one's factor.
Tensor repeated(const Tensor& pattern, const Tensor& factors) {
  Tensor result;
  for (const float factor : factors) {
    for (const float value : pattern) result.push_back(value * factor);
  }
  return result;
}

const Tensor kPixels{1, 2, 0, 1, 0, 1, 3, 1, 2, 0, 1, 2, 1, 1, 0, 3};  // 4x4
const Tensor kKernel{1, 0, 2, 0, 2, 0, 4, 0, 2};                       // 3x3
const Tensor kOutputs{13, 14, 10, 15};                                 // their convolution, 2x2
const Tensor kZeros(4);

TEST(WinogradForward, ChainsOverInputChannels) {
  const auto outputs = [](const Tensor& factors) {
    const auto channels = static_cast<int>(factors.size());
    return winograd_forward(with_channels(square_kernel(3, 0, 4, 4), channels, 1), 2, 1,
                            repeated(kPixels, Tensor(factors.size(), 1)), repeated(kKernel, factors),
                            Tensor{0});
  };
  EXPECT_THAT(outputs({1}), SameBits(kOutputs));
  EXPECT_THAT(outputs({kBig, -kBig, 1}), SameBits(kOutputs));
  EXPECT_THAT(outputs({kBig, 1, -kBig}), SameBits(kZeros));
  EXPECT_THAT(outputs({1, kBig, -kBig}), SameBits(kZeros));
}

TEST(WinogradForward, FusesMultiplyAndAdd) {
  const float x = 1 + 0x1p-12f;  // x * x needs 25 bits
  Tensor image(16), kernel(9);
  image[0] = kernel[0] = 1;
  const Tensor y = winograd_forward(with_channels(square_kernel(3, 0, 4, 4), 2, 1), 2, 1,
                                    repeated(image, {-1, x}), repeated(kernel, {1, x}), Tensor{0});
  EXPECT_THAT(y, SameBits(Tensor{0x1p-11f + 0x1p-24f, 0, 0, 0}));
}

TEST(WinogradForward, AddsTheBiasOnceAtTheEnd) {
  const Tensor image(16, 1);
  const auto output = [&](const Tensor& factors, float bias) {
    return winograd_forward(with_channels(square_kernel(3, 0, 4, 4), 2, 1), 2, 1, repeated(image, {1, 1}),
                            repeated(kKernel, factors), Tensor{bias});
  };
  EXPECT_THAT(output({1, 1}, 3), SameBits(Tensor(4, 25)));
  EXPECT_THAT(output({kBig, 1}, -11 * kBig), SameBits(kZeros));   // a chain from the bias would keep the 1
  EXPECT_THAT(output({kBig, -kBig}, 1), SameBits(Tensor(4, 1)));  // a chain from the bias would lose it
}

TEST(WinogradForward, DropsOutputsOutside) {
  const Tensor image{1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_THAT(winograd_forward(square_kernel(3, 0, 3, 3), 2, 1, image, kKernel, Tensor{0}),
              SameBits(Tensor{63}));
  Tensor middle(9);
  middle[4] = 1;
  EXPECT_THAT(winograd_forward(square_kernel(3, 1, 3, 3), 2, 1, image, middle, Tensor{0}), SameBits(image));
}

TEST(WinogradInputGradient, ChainsOverOutputChannels) {
  const auto gradient = [](const Tensor& factors) {
    const auto channels = static_cast<int>(factors.size());
    return winograd_input_gradient(with_channels(square_kernel(3, 0, 4, 4), 1, channels), 2, 1,
                                   repeated({1, 0, 0, 2}, Tensor(factors.size(), 1)),
                                   repeated(kKernel, factors));
  };
  const Tensor expected{1, 0, 2, 0, 0, 4, 0, 4, 4, 0, 6, 0, 0, 8, 0, 4};
  EXPECT_THAT(gradient({1}), SameBits(expected));
  EXPECT_THAT(gradient({kBig, -kBig, 1}), SameBits(expected));
  EXPECT_THAT(gradient({kBig, 1, -kBig}), SameBits(Tensor(16)));
  EXPECT_THAT(gradient({1, kBig, -kBig}), SameBits(Tensor(16)));
}

// Pixel (2, 2) of a 6x6 image lies in all four tiles; one output of each reaches it through the kernel.
TEST(WinogradInputGradient, AddsTilesInOrder) {
  const auto pixel = [](float first, float right, float below, float last) {
    Tensor dy(16);
    dy[1 * 4 + 1] = first, dy[1 * 4 + 2] = right, dy[2 * 4 + 1] = below, dy[2 * 4 + 2] = last;
    return winograd_input_gradient(square_kernel(3, 0, 6, 6), 2, 1, dy, Tensor(9, 1))[2 * 6 + 2];
  };
  EXPECT_THAT(pixel(1, 2, 3, 4), SameBits(10.0f));
  EXPECT_THAT(pixel(kBig, -kBig, 1, 0), SameBits(1.0f));
  EXPECT_THAT(pixel(kBig, 1, -kBig, 0), SameBits(0.0f));
  EXPECT_THAT(pixel(0, kBig, -kBig, 1), SameBits(1.0f));
  EXPECT_THAT(pixel(0, kBig, 1, -kBig), SameBits(0.0f));
}

// x = 1 everywhere; of every tile of every example the first output has the gradient.
// gradients [example][tile] of 2x4 outputs -> the first weight's gradient
float weight_gradient(const std::vector<std::array<float, 2>>& gradients) {
  Tensor dy;
  for (const auto [left, right] : gradients) dy.insert(dy.end(), {left, 0, right, 0, 0, 0, 0, 0});
  const Tensor x(gradients.size() * 4 * 6, 1);
  const auto examples = static_cast<int>(gradients.size());
  const Tensor dw = winograd_weight_gradient(square_kernel(3, 0, 4, 6), 2, examples, x, dy);
  EXPECT_THAT(dw, SameBits(Tensor(9, dw[0])));
  return dw[0];
}

TEST(WinogradWeightGradient, ChainsTilesThenExamples) {
  EXPECT_THAT(weight_gradient({{1, 2}, {3, 4}}), SameBits(10.0f));
  EXPECT_THAT(weight_gradient({{kBig, 1}, {-kBig, 0}}),
              SameBits(1.0f));  // the first tile of both examples, then the 1
  EXPECT_THAT(weight_gradient({{kBig, -kBig}, {1, 0}}), SameBits(0.0f));
  EXPECT_THAT(weight_gradient({{kBig, 0}, {0, -kBig}, {1, 0}}), SameBits(0.0f));
  EXPECT_THAT(weight_gradient({{kBig, 0}, {-kBig, 0}, {1, 0}}), SameBits(1.0f));
}

TEST(WinogradWeightGradient, ChainsLanesWithoutATree) {
  std::vector<std::array<float, 2>> examples(16);
  examples[0][0] = kBig, examples[1][0] = -kBig, examples[8][0] = 1;  // a lane tree adds 0 and 8 first
  EXPECT_THAT(weight_gradient(examples), SameBits(1.0f));
}

TEST(WinogradWeightGradient, JoinsPacksInTheirTree) {
  std::vector<std::array<float, 2>> examples(16 * 2 + 1);  // (0 + 1) + 2
  examples[0][0] = 1, examples[16][0] = kBig, examples[32][0] = -kBig;
  EXPECT_THAT(weight_gradient(examples), SameBits(0.0f));
  examples[0][0] = kBig, examples[16][0] = -kBig, examples[32][0] = 1;
  EXPECT_THAT(weight_gradient(examples), SameBits(1.0f));
  examples.resize(16 * 3 + 1);  // (0 + 1) + (2 + 3)
  examples[16][0] = 0, examples[32][0] = -kBig, examples[48][0] = 1;
  EXPECT_THAT(weight_gradient(examples), SameBits(0.0f));
}

// One example moves the last weight by much, another the first by little: apart as weights, not as
// frequencies.
TEST(WinogradWeightGradient, IsTransformedBackBeforeThePacksMeet) {
  const auto gradient = [](std::size_t second) {
    Tensor x((second + 1) * 16), dy((second + 1) * 4);
    x[2 * 4 + 2] = kBig, dy[0] = 1;
    x[second * 16] = 1, dy[second * 4] = 1;
    return winograd_weight_gradient(square_kernel(3, 0, 4, 4), 2, static_cast<int>(second + 1), x, dy);
  };
  EXPECT_THAT(gradient(16), SameBits(Tensor{1, 0, 0, 0, 0, 0, 0, 0, kBig}));
  EXPECT_NE(gradient(15)[0], 1.0f);
}

// Products that underflow to zeros whose signs would add up to -0 in the element named.
void expect_plus_zero(const Tensor& result, std::size_t at) {
  EXPECT_EQ(result, Tensor(result.size()));
  EXPECT_FALSE(std::signbit(result[at]));
}

TEST(Winograd, StoresEveryZeroAsPlusZero) {
  constexpr float kTiny = 0x1p-100f;
  const arithmetic::ConvolutionShape shape = square_kernel(3, 0, 4, 4);
  const Tensor kernel = repeated({1, 0, -2, 0, 0, 0, -2, 0, 4}, {-kTiny});
  Tensor x(16), dy(4);
  x[2 * 4 + 2] = kTiny;
  expect_plus_zero(winograd_forward(shape, 2, 1, x, kernel, Tensor{-0.0f}), 0);
  dy[0] = kTiny;
  expect_plus_zero(winograd_input_gradient(shape, 2, 1, dy, kernel), 2 * 4 + 2);
  x = Tensor(16);
  x[1 * 4 + 1] = -kTiny;
  expect_plus_zero(winograd_weight_gradient(shape, 2, 1, x, dy), 1 * 3 + 1);
}

}  // namespace
}  // namespace lockstep::reference
