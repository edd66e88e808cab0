// The tiled kernels against the naive twins, bit for bit, on random layers.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "gpu/kernels/kernels_host.h"
#include "gpu/kernels/layout_for_test.h"
#include "reference/convolution.h"
#include "reference/linear.h"
#include "reference/pool.h"
#include "reference/relu.h"

namespace lockstep::gpu {
namespace {

using arithmetic::ConvolutionShape;
using namespace reference;

int rounded_up(int n, int unit) { return (n + unit - 1) / unit * unit; }

struct Layer {
  ConvolutionShape shape;
  int examples;

  int taps() const { return shape.kernel_height * shape.kernel_width; }
  std::size_t inputs() const { return size(shape.in_channels * shape.height * shape.width); }
  std::size_t outputs() const { return size(shape.out_channels * shape.out_height() * shape.out_width()); }
  std::size_t weights() const { return size(shape.out_channels * shape.group_in_channels() * taps()); }

  // Of a group.
  HostKernels::WindowShape window() const {
    return {shape.group_in_channels(), shape.height,       shape.width,          shape.group_out_channels(),
            shape.out_height(),        shape.out_width(),  shape.kernel_height,  shape.kernel_width,
            shape.stride_height,       shape.stride_width, shape.padding_height, shape.padding_width,
            packs_of(examples)};
  }

  std::vector<float> prepared(std::span<const float> weight, bool backward) const {
    const int inputs = shape.group_in_channels(), outputs = shape.group_out_channels();
    const int outer = backward ? outputs : inputs, inner = backward ? inputs : outputs;
    std::vector<float> out(size(shape.groups * outer * taps() * rounded_up(inner, TILE_O)));
    run_items(out.size() + 3, [&](HostKernels& k) {
      k.prepare(weight.data(), out.data(), outputs, inputs, taps(), shape.groups, backward ? 1 : 0);
    });
    return out;
  }

  std::size_t items(int tile_packs, int positions, int channels) const {
    return size(rounded_up(packs_of(examples), tile_packs) / tile_packs * positions * shape.groups *
                (rounded_up(channels / shape.groups, TILE_O) / TILE_O));
  }
};

Layer random_layer(std::mt19937& random) {
  ConvolutionShape s = random_windows(random, 11);
  const bool wide = draw(random, 0, 3) == 0;
  s.in_channels = draw(random, 1, wide ? 65 : 7);
  s.out_channels = draw(random, 1, wide ? 5 : 20);
  if (draw(random, 0, 2) == 0) {
    s.groups = draw(random, 2, 4);
    s.in_channels = rounded_up(s.in_channels, s.groups);
    s.out_channels = rounded_up(s.out_channels, s.groups);
  }
  return {s, draw(random, 1, 75)};
}

// More guards than items: what lies beyond the range must do nothing.
constexpr std::size_t kBeyond = 5;

struct Tiled {
  int packs;
  void (HostKernels::*convolve)(const float*, const float*, const float*, float*, HostKernels::WindowShape,
                                int, int, int);
  void (HostKernels::*convolve_pool)(const float*, const float*, const float*, float*, HostKernels::Byte*,
                                     HostKernels::WindowShape, int, int);
  void (HostKernels::*convolve_back)(const float*, const float*, float*, HostKernels::WindowShape, int);
  void (HostKernels::*multiply)(const float*, const float*, float*, HostKernels::ProductShape);
};

#define LOCKSTEP_TILED(packs)                                                   \
  Tiled {                                                                       \
    packs, &HostKernels::convolve_##packs, &HostKernels::convolve_pool_##packs, \
        &HostKernels::convolve_back_##packs, &HostKernels::multiply_##packs     \
  }
const Tiled kTiled[] = {LOCKSTEP_TILED(1), LOCKSTEP_TILED(2)};

// An empty bias: the layer has none.
std::vector<float> convolved(const Layer& layer, const Tiled& tiled, std::span<const float> x,
                             std::span<const float> weight, std::span<const float> bias, int relu) {
  const std::vector<float> packs = packed(x, layer.examples), prepared = layer.prepared(weight, false);
  std::vector<float> y(layer.outputs() * size(packs_of(layer.examples)) * arithmetic::kPack, -7.0f);
  const int positions = layer.shape.out_height() * layer.shape.out_width();
  run_items(layer.items(tiled.packs, positions, layer.shape.out_channels) + kBeyond, [&](HostKernels& k) {
    (k.*tiled.convolve)(packs.data(), prepared.data(), bias.data(), y.data(), layer.window(),
                        layer.shape.groups, bias.empty() ? 0 : 1, relu);
  });
  return unpacked(y, layer.examples);
}

TEST(GpuTile, ConvolutionsGiveTheTwinsBits) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const Layer layer = random_layer(random);
    const auto x = random_floats(layer.inputs() * size(layer.examples), random);
    const auto weight = random_floats(layer.weights(), random);
    const auto bias = random_floats(size(layer.shape.out_channels), random);
    const auto expected = convolution_forward(layer.shape, layer.examples, x, weight, bias);
    const auto without_bias = convolution_forward(layer.shape, layer.examples, x, weight, {});
    for (const Tiled& tiled : kTiled) {
      ASSERT_EQ(bits_of(convolved(layer, tiled, x, weight, bias, 0)), bits_of(expected)) << i;
      ASSERT_EQ(bits_of(convolved(layer, tiled, x, weight, bias, 1)), bits_of(relu_forward(expected))) << i;
      ASSERT_EQ(bits_of(convolved(layer, tiled, x, weight, {}, 0)), bits_of(without_bias)) << i;
    }
  }
}

TEST(GpuTile, ReluLetsNaNPass) {
  const Layer layer{{1, 1, 1, 1, 1, 1}, 1};
  const std::vector<float> x{std::numeric_limits<float>::quiet_NaN()}, one{1.0f}, zero{0.0f};
  EXPECT_TRUE(std::isnan(convolved(layer, kTiled[0], x, one, zero, 1).front()));
}

TEST(GpuTile, PaddingMayHideTheOnlyPixel) {
  const Layer layer{{1, 1, 1, 1, 1, 1, 3, 3, 1, 1}, 1};
  const std::vector<float> x{5.0f}, weight{2.0f}, bias{3.0f};
  for (const Tiled& tiled : kTiled) EXPECT_THAT(convolved(layer, tiled, x, weight, bias, 0), SameBits(bias));
}

TEST(GpuTile, LinearLayersAreConvolutionsOfOnePixel) {
  std::mt19937 random(2);
  for (int i = 0; i < 20; ++i) {
    const Layer layer{{draw(random, 1, 65), draw(random, 1, 65), 1, 1, 1, 1}, draw(random, 1, 75)};
    const LinearShape linear{layer.shape.in_channels, layer.shape.out_channels};
    const auto x = random_floats(layer.inputs() * size(layer.examples), random);
    const auto weight = random_floats(layer.weights(), random);
    const auto bias = random_floats(size(layer.shape.out_channels), random);
    const auto expected = linear_forward(linear, layer.examples, x, weight, bias);
    for (const Tiled& tiled : kTiled) {
      ASSERT_EQ(bits_of(convolved(layer, tiled, x, weight, bias, 0)), bits_of(expected)) << i;
    }
  }
}

TEST(GpuTile, ThePoolFollowsInRegisters) {
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    Layer layer = random_layer(random);
    // an even number of rows and columns
    if (layer.shape.out_height() % 2 != 0) layer.shape.height += layer.shape.stride_height;
    if (layer.shape.out_width() % 2 != 0) layer.shape.width += layer.shape.stride_width;
    const int height = layer.shape.out_height(), width = layer.shape.out_width();
    const auto x = random_floats(layer.inputs() * size(layer.examples), random);
    const auto weight = random_floats(layer.weights(), random);
    const bool biased = i % 3 != 0;
    const auto bias = random_floats(biased ? size(layer.shape.out_channels) : 0, random);
    const auto kept = relu_forward(convolution_forward(layer.shape, layer.examples, x, weight, bias));
    const PoolShape pool{layer.shape.out_channels, height, width, 2, 2, 2, 2};
    const auto expected = average_pool_forward(pool, layer.examples, kept);
    const auto expected_of_mask = packed(kept, layer.examples);
    const auto packs = packed(x, layer.examples), prepared = layer.prepared(weight, false);
    for (const Tiled& tiled : kTiled) {
      std::vector<float> y(expected_of_mask.size() / 4);
      std::vector<HostKernels::Byte> mask(y.size());
      run_items(layer.items(tiled.packs, height * width / 4, layer.shape.out_channels) + kBeyond,
                [&](HostKernels& k) {
                  (k.*tiled.convolve_pool)(packs.data(), prepared.data(), bias.data(), y.data(), mask.data(),
                                           layer.window(), layer.shape.groups, biased ? 1 : 0);
                });
      ASSERT_EQ(bits_of(unpacked(y, layer.examples)), bits_of(expected)) << i;
      for (std::size_t e = 0; e < mask.size(); ++e) {
        const std::size_t lane = e % LANES, column = e / LANES % size(width / 2);
        const std::size_t row = e / LANES / size(width / 2);  // of all images
        const std::size_t pack = row / size(layer.shape.out_channels * height / 2);
        if (pack * LANES + lane >= size(layer.examples)) continue;  // absent
        for (std::size_t bit = 0; bit < 4; ++bit) {
          const std::size_t at = (2 * row + bit / 2) * size(width) + 2 * column + bit % 2;
          ASSERT_EQ(mask[e] >> bit & 1, expected_of_mask[at * LANES + lane] > 0 ? 1 : 0) << i;
        }
      }
    }
  }
}

TEST(GpuTile, InputGradientsGiveTheTwinsBits) {
  std::mt19937 random(4);
  for (int i = 0; i < 80; ++i) {
    Layer layer = random_layer(random);
    if (i % 8 == 0) layer.shape = {draw(random, 1, 65), draw(random, 1, 65), 1, 1, 1, 1};
    const auto dy = random_floats(layer.outputs() * size(layer.examples), random);
    const auto weight = random_floats(layer.weights(), random);
    const auto expected = convolution_input_gradient(layer.shape, layer.examples, dy, weight);
    const auto packs = packed(dy, layer.examples), prepared = layer.prepared(weight, true);
    for (const Tiled& tiled : kTiled) {
      std::vector<float> dx(layer.inputs() * size(packs_of(layer.examples)) * LANES, -7.0f);
      run_items(
          layer.items(tiled.packs, layer.shape.height * layer.shape.width, layer.shape.in_channels) + kBeyond,
          [&](HostKernels& k) {
            (k.*tiled.convolve_back)(packs.data(), prepared.data(), dx.data(), layer.window(),
                                     layer.shape.groups);
          });
      ASSERT_EQ(bits_of(unpacked(dx, layer.examples)), bits_of(expected)) << i;
    }
  }
}

TEST(GpuTile, ProductsAreChainsOverChannels) {
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    const HostKernels::ProductShape s{draw(random, 1, 4), draw(random, 1, 65), draw(random, 1, 65),
                                      draw(random, 1, 9), draw(random, 1, 5)};
    const int row = rounded_up(s.out_channels, TILE_O);
    const auto x = random_floats(size(s.packs * s.frequencies * s.in_channels * s.tiles * LANES), random);
    const auto weights = random_floats(size(s.frequencies * s.in_channels * row), random);
    std::vector<float> expected;
    for (int line = 0; line < s.packs * s.frequencies; ++line) {
      for (int o = 0; o < s.out_channels; ++o) {
        for (int j = 0; j < s.tiles * LANES; ++j) {
          float sum = 0;
          for (int c = 0; c < s.in_channels; ++c) {
            const float w = weights[size((line % s.frequencies * s.in_channels + c) * row + o)];
            sum = std::fma(w, x[size((line * s.in_channels + c) * s.tiles * LANES + j)], sum);
          }
          expected.push_back(sum);
        }
      }
    }
    for (const Tiled& tiled : kTiled) {
      std::vector<float> y(expected.size(), -7.0f);
      const int groups = rounded_up(s.packs, tiled.packs) / tiled.packs;
      run_items(size(groups * s.frequencies * s.tiles * row / TILE_O) + kBeyond,
                [&](HostKernels& k) { (k.*tiled.multiply)(x.data(), weights.data(), y.data(), s); });
      ASSERT_EQ(bits_of(y), bits_of(expected)) << i;
    }
  }
}

}  // namespace
}  // namespace lockstep::gpu
