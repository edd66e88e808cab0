// The transforms of fast convolution as C++, with plain products between them, against the naive twins: every
// layer's three passes, bit for bit.
#include "reference/winograd.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arithmetic/pack.h"
#include "gpu/kernels/kernels_host.h"
#include "gpu/kernels/winograd_constants_text.h"
#include "reference/pack_tree.h"
#include "reference/pool.h"
#include "reference/relu.h"

namespace lockstep::gpu {
namespace {

namespace reference = reference;
using arithmetic::ConvolutionShape;
using Numbers = std::vector<float>;

constexpr float kUnset = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kOverhang = 3;  // work-items that must do nothing

// All NaNs are one: their bits are outside the law.
std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float v : values) bits.push_back(std::isnan(v) ? ~0u : std::bit_cast<std::uint32_t>(v));
  return bits;
}

std::size_t product(std::initializer_list<int> factors) {
  std::size_t result = 1;
  for (const int factor : factors) result *= static_cast<std::size_t>(factor);
  return result;
}

// The kernels of one number of frequencies.
struct Transforms {
  decltype(&HostKernels::winograd_weights_4) weights;
  decltype(&HostKernels::winograd_input_4) input;
  decltype(&HostKernels::winograd_output_4) output;
  decltype(&HostKernels::winograd_gradient_4) gradient;
  decltype(&HostKernels::winograd_spread_4) spread;
  decltype(&HostKernels::winograd_add_tiles_4) add_tiles;
  decltype(&HostKernels::winograd_back_4) back;
};

Transforms transforms_of(int frequencies) {
  using H = HostKernels;
  if (frequencies == 4) {
    return {&H::winograd_weights_4, &H::winograd_input_4,     &H::winograd_output_4, &H::winograd_gradient_4,
            &H::winograd_spread_4,  &H::winograd_add_tiles_4, &H::winograd_back_4};
  }
  if (frequencies == 6) {
    return {&H::winograd_weights_6, &H::winograd_input_6,     &H::winograd_output_6, &H::winograd_gradient_6,
            &H::winograd_spread_6,  &H::winograd_add_tiles_6, &H::winograd_back_6};
  }
  if (frequencies == 8) {
    return {&H::winograd_weights_8, &H::winograd_input_8,     &H::winograd_output_8, &H::winograd_gradient_8,
            &H::winograd_spread_8,  &H::winograd_add_tiles_8, &H::winograd_back_8};
  }
  return {&H::winograd_weights_9, &H::winograd_input_9,     &H::winograd_output_9, &H::winograd_gradient_9,
          &H::winograd_spread_9,  &H::winograd_add_tiles_9, &H::winograd_back_9};
}

// A layer on a minibatch. Frequencies of activations are [pack][f][channel][tile][lane].
struct Layer {
  ConvolutionShape shape;
  int tile, examples;

  int kernel() const { return shape.kernel_height; }
  int line() const { return tile + kernel() - 1; }
  int plane() const { return line() * line(); }
  int packs() const { return arithmetic::pack_count(examples); }
  std::size_t count() const { return static_cast<std::size_t>(examples); }
  HostKernels::TileShape tiles() const {
    return {shape.in_channels,
            shape.height,
            shape.width,
            shape.out_channels,
            shape.out_height(),
            shape.out_width(),
            shape.padding_height,
            (shape.out_height() + tile - 1) / tile,
            (shape.out_width() + tile - 1) / tile,
            packs()};
  }
  int tile_count() const { return tiles().tiles_y * tiles().tiles_x; }
  Transforms transforms() const { return transforms_of(line()); }

  // [f][rows][padded columns]
  Numbers weights(const Numbers& w, bool backward) const {
    const int columns = backward ? shape.in_channels : shape.out_channels;
    const int rows = backward ? shape.out_channels : shape.in_channels, padded = padded_of(columns);
    Numbers out(product({plane(), rows, padded}), kUnset);
    run_elements(product({rows, padded}) + kOverhang, [&](HostKernels& k) {
      (k.*transforms().weights)(w.data(), out.data(), shape.out_channels, shape.in_channels, kernel(), 1,
                                backward ? 1 : 0);
    });
    for (int i = 0; i < plane() * rows; ++i) {
      for (int column = columns; column < padded; ++column)
        EXPECT_EQ(out[static_cast<std::size_t>(i * padded + column)], 0.0f);
    }
    return out;
  }
  static int padded_of(int columns) { return (columns + TILE_O - 1) / TILE_O * TILE_O; }

  Numbers input(const Numbers& x) const {
    const Numbers packs_of_x = to_packs(std::span<const float>(x), count());
    Numbers out(product({packs(), plane(), shape.in_channels, tile_count(), LANES}), kUnset);
    run_items(product({packs(), shape.in_channels, tile_count()}) + kOverhang,
              [&](HostKernels& k) { (k.*transforms().input)(packs_of_x.data(), out.data(), tiles(), tile); });
    return out;
  }

  Numbers gradient(const Numbers& dy) const {
    const Numbers packs_of_dy = to_packs(std::span<const float>(dy), count());
    Numbers out(product({packs(), plane(), shape.out_channels, tile_count(), LANES}), kUnset);
    run_items(product({packs(), shape.out_channels, tile_count()}) + kOverhang, [&](HostKernels& k) {
      (k.*transforms().gradient)(packs_of_dy.data(), out.data(), tiles(), tile);
    });
    return out;
  }

  // Per frequency a chain over `rows`: weights [f][row][column padded], x [pack][f][row][tile][lane] ->
  // [pack][f][column][tile][lane].
  Numbers multiply(const Numbers& weights, const Numbers& x, int rows, int columns) const {
    const std::size_t width = product({tile_count(), LANES});
    Numbers out(product({packs(), plane(), columns}) * width);
    for (int p = 0; p < packs(); ++p) {
      for (int f = 0; f < plane(); ++f) {
        for (int column = 0; column < columns; ++column) {
          float* const to = out.data() + product({(p * plane() + f) * columns + column}) * width;
          for (int row = 0; row < rows; ++row) {
            const float weight = weights[product({(f * rows + row) * padded_of(columns) + column})];
            const float* const from = x.data() + product({(p * plane() + f) * rows + row}) * width;
            for (std::size_t i = 0; i < width; ++i) to[i] = std::fma(weight, from[i], to[i]);
          }
        }
      }
    }
    return out;
  }
};

struct Outputs {
  Numbers y;                       // as packs
  std::vector<std::uint8_t> mask;  // of epilogue 2
};

Outputs forward(const Layer& layer, int epilogue, const Numbers& x, const Numbers& w, const Numbers& bias) {
  const ConvolutionShape& s = layer.shape;
  const Numbers m = layer.multiply(layer.weights(w, false), layer.input(x), s.in_channels, s.out_channels);
  const int pool = epilogue == 2 ? 2 : 1;
  const std::size_t values =
      product({layer.packs(), s.out_channels, s.out_height() / pool, s.out_width() / pool, LANES});
  Outputs outputs{Numbers(values, kUnset), std::vector<std::uint8_t>(epilogue == 2 ? values : 0, 0xff)};
  run_items(product({layer.packs(), s.out_channels, layer.tile_count()}) + kOverhang, [&](HostKernels& k) {
    (k.*layer.transforms().output)(m.data(), bias.data(), outputs.y.data(), outputs.mask.data(),
                                   layer.tiles(), layer.tile, 1, bias.empty() ? 0 : 1, epilogue);
  });
  return outputs;
}

Numbers input_gradient(const Layer& layer, const Numbers& dy, const Numbers& w) {
  const ConvolutionShape& s = layer.shape;
  Numbers m = layer.multiply(layer.weights(w, true), layer.gradient(dy), s.out_channels, s.in_channels);
  run_items(product({layer.packs(), s.in_channels, layer.tile_count()}) + kOverhang,
            [&](HostKernels& k) { (k.*layer.transforms().spread)(m.data(), layer.tiles()); });
  Numbers dx(product({layer.packs(), s.in_channels, s.height, s.width, LANES}), kUnset);
  run_items(product({layer.packs(), s.in_channels, s.height, s.width}) + kOverhang, [&](HostKernels& k) {
    (k.*layer.transforms().add_tiles)(m.data(), dx.data(), layer.tiles(), layer.tile);
  });
  return from_packs(std::span<const float>(dx), layer.count());
}

Numbers weight_gradient(const Layer& layer, const Numbers& x, const Numbers& dy) {
  const ConvolutionShape& s = layer.shape;
  const Numbers inputs = layer.input(x), gradients = layer.gradient(dy);
  const std::size_t width = product({layer.tile_count(), LANES});
  Numbers m;  // [pack][f][o][i]
  for (int p = 0; p < layer.packs() * layer.plane(); ++p) {
    for (int o = 0; o < s.out_channels; ++o) {
      for (int i = 0; i < s.in_channels; ++i) {
        const float* const a = gradients.data() + product({p * s.out_channels + o}) * width;
        const float* const b = inputs.data() + product({p * s.in_channels + i}) * width;
        float sum = 0;
        for (std::size_t at = 0; at < width; ++at) sum = std::fma(a[at], b[at], sum);
        m.push_back(sum);
      }
    }
  }
  const std::size_t weights = product({s.out_channels, s.in_channels, layer.kernel(), layer.kernel()});
  Numbers of_packs(product({layer.packs()}) * weights, kUnset), dw;
  run_elements(product({layer.packs(), s.out_channels, s.in_channels}) + kOverhang, [&](HostKernels& k) {
    (k.*layer.transforms().back)(m.data(), of_packs.data(), s.out_channels, s.in_channels, layer.kernel(),
                                 layer.packs());
  });
  for (std::size_t i = 0; i < weights; ++i) {
    Numbers sums;
    for (std::size_t at = i; at < of_packs.size(); at += weights) sums.push_back(of_packs[at]);
    dw.push_back(reference::pack_tree(sums));
  }
  return dw;
}

// Bit dy * 2 + dx of each 2x2 window: where relu let the value through.
std::vector<std::uint8_t> mask_of(const ConvolutionShape& s, const Numbers& relu, std::size_t examples) {
  const auto height = static_cast<std::size_t>(s.out_height()),
             width = static_cast<std::size_t>(s.out_width());
  std::vector<std::uint8_t> mask;
  for (std::size_t image = 0; image < examples * static_cast<std::size_t>(s.out_channels); ++image) {
    for (std::size_t v = 0; v + 1 < height; v += 2) {
      for (std::size_t u = 0; u + 1 < width; u += 2) {
        const float* const corner = relu.data() + (image * height + v) * width + u;
        const int bits = (corner[0] > 0 ? 1 : 0) | (corner[1] > 0 ? 2 : 0) | (corner[width] > 0 ? 4 : 0) |
                         (corner[width + 1] > 0 ? 8 : 0);
        mask.push_back(static_cast<std::uint8_t>(bits));
      }
    }
  }
  return mask;
}

void expect_twins(const Layer& layer, std::mt19937& engine, float first_bias) {
  const ConvolutionShape& s = layer.shape;
  const auto numbers = [&](std::size_t count) {
    Numbers values(count);
    for (float& v : values) v = std::normal_distribution<float>()(engine);
    return values;
  };
  const Numbers x = numbers(product({layer.examples, s.in_channels, s.height, s.width}));
  const Numbers dy = numbers(product({layer.examples, s.out_channels, s.out_height(), s.out_width()}));
  const Numbers w = numbers(product({s.out_channels, s.in_channels, layer.kernel(), layer.kernel()}));
  Numbers bias = numbers(product({s.out_channels}));
  bias[0] = first_bias;
  const auto plain_bits = [&](const Numbers& packs) {
    return bits_of(from_packs(std::span<const float>(packs), layer.count()));
  };

  const Numbers y = reference::winograd_forward(s, layer.tile, layer.examples, x, w, bias);
  const Numbers relu = reference::relu_forward(y);
  EXPECT_EQ(plain_bits(forward(layer, 0, x, w, bias).y), bits_of(y));
  EXPECT_EQ(plain_bits(forward(layer, 0, x, w, {}).y),
            bits_of(reference::winograd_forward(s, layer.tile, layer.examples, x, w, {})));
  EXPECT_EQ(plain_bits(forward(layer, 1, x, w, bias).y), bits_of(relu));
  if (layer.tile % 2 == 0 && s.out_height() > 1 && s.out_width() > 1) {
    const reference::PoolShape pool{s.out_channels, s.out_height(), s.out_width(), 2, 2, 2, 2};
    const Outputs pooled = forward(layer, 2, x, w, bias);
    EXPECT_EQ(plain_bits(pooled.y), bits_of(reference::average_pool_forward(pool, layer.examples, relu)));
    EXPECT_EQ(from_packs(std::span<const std::uint8_t>(pooled.mask), layer.count()),
              mask_of(s, relu, layer.count()));
  }
  EXPECT_EQ(bits_of(input_gradient(layer, dy, w)),
            bits_of(reference::winograd_input_gradient(s, layer.tile, layer.examples, dy, w)));
  EXPECT_EQ(bits_of(weight_gradient(layer, x, dy)),
            bits_of(reference::winograd_weight_gradient(s, layer.tile, layer.examples, x, dy)));
}

// Every tile and both kernels in turn; a tile of 7 is for a kernel of 3.
Layer draw_layer(int turn, std::mt19937& engine) {
  const auto whole = [&](int low, int high) { return std::uniform_int_distribution(low, high)(engine); };
  Layer layer;
  layer.tile = turn % 5 == 4 ? 7 : turn % 5 % 2 == 0 ? 2 : 4;
  const int kernel = layer.tile == 7 || turn % 5 < 2 ? 3 : 5, padding = whole(0, 4);
  const int smallest = std::max(1, kernel - 2 * padding);
  layer.shape = {.in_channels = whole(1, turn == 9 ? 65 : 18),
                 .out_channels = whole(1, turn == 10 ? 65 : 18),
                 .height = whole(smallest, layer.tile == 7 ? 16 : 11),
                 .width = whole(smallest, layer.tile == 7 ? 16 : 11),
                 .kernel_height = kernel,
                 .kernel_width = kernel,
                 .padding_height = padding,
                 .padding_width = padding};
  layer.examples = turn % 8 == 0 ? whole(33, 70) : whole(1, 20);
  return layer;
}

TEST(WinogradKernels, EveryPassIsTheTwins) {
  std::mt19937 engine(1);
  for (int turn = 0; turn < 35; ++turn) {
    SCOPED_TRACE(turn);
    expect_twins(draw_layer(turn, engine), engine, 1.0f);
    if (HasFailure()) return;
  }
}

// Zeros of either sign, many enough that some meet as -0 everywhere.
TEST(WinogradKernels, FinishedZerosArePositive) {
  constexpr int channels = 64, packs = 3;
  std::mt19937 engine(2);
  const auto zeros = [&](std::size_t count) {
    Numbers values(count);
    for (float& v : values) v = engine() % 2 == 0 ? 0.0f : -0.0f;
    return values;
  };
  const Numbers products = zeros(product({packs, 16, channels, channels})), bias(channels, -0.0f);
  Numbers dw(product({packs, channels, channels, 9}), kUnset);
  run_elements(product({packs, channels, channels}), [&](HostKernels& k) {
    k.winograd_back_4(products.data(), dw.data(), channels, channels, 3, packs);
  });
  EXPECT_EQ(bits_of(dw), bits_of(Numbers(dw.size())));

  const Numbers m = zeros(product({packs, 16, channels, LANES}));
  Numbers y(product({packs, channels, 4, LANES}), kUnset);
  const HostKernels::TileShape one_tile{1, 4, 4, channels, 2, 2, 0, 1, 1, packs};
  run_items(product({packs, channels}), [&](HostKernels& k) {
    k.winograd_output_4(m.data(), bias.data(), y.data(), nullptr, one_tile, 2, 1, 1, 0);
  });
  EXPECT_EQ(bits_of(y), bits_of(Numbers(y.size())));
}

TEST(WinogradKernels, NanPassesRelu) {
  std::mt19937 engine(3);
  Layer layer = draw_layer(1, engine);
  layer.examples = 2;
  expect_twins(layer, engine, std::numeric_limits<float>::quiet_NaN());
}

TEST(WinogradKernels, ConstantsAreSourceOfEveryDialect) {
  const std::string text = winograd_constants_text();
  EXPECT_THAT(text, testing::HasSubstr("INLINE float winograd_z_6(int k) "
                                       "{ return k == 0 ? 0x1.c2p-1f : k == 1 ? -0x1.52p+1f : 0x1p+0f; }\n"));
  EXPECT_THAT(text, testing::HasSubstr("INLINE float winograd_q_6(int i, int k) { return i == 0 ? (k == 0 ? "
                                       "-0x1.2p+1f : 0x1p+0f) : (k == 0 ? -0x1.9p-2f : 0x1p+0f); }\n"));
  EXPECT_THAT(text, testing::HasSubstr("INLINE float winograd_scale0_8(void) { return -0x1p+0f; }\n"));
}

}  // namespace
}  // namespace lockstep::gpu
