// The kernels of parameter gradients against the naive twins, bit for bit, on random layers.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "gpu/kernels/kernels_host.h"
#include "gpu/kernels/layout_for_test.h"
#include "reference/convolution.h"
#include "reference/linear.h"
#include "reference/pack_tree.h"

namespace lockstep::gpu {
namespace {

using arithmetic::ConvolutionShape;
using namespace reference;

constexpr std::size_t kBeyond = 5;  // items past the range, which must do nothing

int over_rounded_up(int n, int unit) { return (n + unit - 1) / unit; }

struct Operands {
  std::vector<float> x, dy;  // plain
  std::vector<float> x_packs, dy_packs;

  Operands(const ConvolutionShape& s, int examples, std::mt19937& random)
      : x(random_floats(size(s.in_channels * s.height * s.width * examples), random)),
        dy(random_floats(size(s.out_channels * s.out_height() * s.out_width() * examples), random)),
        x_packs(packed(x, examples)),
        dy_packs(packed(dy, examples)) {}
};

// sums [pack][element] -> element, by the pack tree
std::vector<float> joined(std::span<const float> sums, int packs) {
  const std::size_t elements = sums.size() / size(packs);
  std::vector<float> whole;
  for (std::size_t i = 0; i < elements; ++i) {
    std::vector<float> of_packs;
    for (std::size_t p = 0; p < size(packs); ++p) of_packs.push_back(sums[p * elements + i]);
    whole.push_back(pack_tree(of_packs));
  }
  return whole;
}

std::vector<float> transposed(std::span<const float> x, int channels, int positions, int packs) {
  const int blocks = over_rounded_up(channels, LANES);
  std::vector<float> out(size(packs * blocks * positions * LANES * LANES), -7.0f);
  run_items(size(packs * blocks * positions) + kBeyond,
            [&](HostKernels& k) { k.transpose(x.data(), out.data(), channels, positions, packs); });
  return out;
}

std::vector<float> outer_product(const HostKernels::OuterShape& s, std::span<const float> a,
                                 std::span<const float> dy) {
  const int taps = s.kernel_height * s.kernel_width;
  std::vector<float> out(size(s.batches * s.out_channels * s.in_channels * taps), -7.0f);
  const int tiles = over_rounded_up(s.out_channels, TILE_B_O) *
                    over_rounded_up(over_rounded_up(s.in_channels, LANES), TILE_B_C);
  run_items(size(s.batches * taps * tiles) + kBeyond,
            [&](HostKernels& k) { k.outer_product(a.data(), dy.data(), out.data(), s); });
  return out;
}

TEST(GpuGradient, PreparedWeightsStandTileByTile) {
  for (const int backward : {0, 1}) {
    const int outputs = 7, inputs = 4, taps = 6;
    const int inner = backward != 0 ? inputs : outputs, outer = backward != 0 ? outputs : inputs;
    const int row = over_rounded_up(inner, TILE_O) * TILE_O;
    const int groups = 3, of_group = outputs * inputs * taps;
    std::vector<float> weights, out(size(groups * outer * taps * row), -7.0f);
    for (int i = 0; i < groups * of_group; ++i) weights.push_back(static_cast<float>(i + 1));
    run_items(out.size() + kBeyond, [&](HostKernels& k) {
      k.prepare(weights.data(), out.data(), outputs, inputs, taps, groups, backward);
    });
    for (int i = 0; i < groups * outer * taps * row; ++i) {
      const int within = i % row, tap = i / row % taps, line = i / row / taps % outer;
      const int group = i / row / taps / outer;
      const int o = backward != 0 ? line : within, c = backward != 0 ? within : line;
      const float expected =
          within < inner ? static_cast<float>(group * of_group + (o * inputs + c) * taps + tap + 1) : 0.0f;
      EXPECT_THAT(out[size(i)], SameBits(expected)) << i;
    }
  }
}

TEST(GpuGradient, AChainALane) {
  std::mt19937 random(1);
  for (int i = 0; i < 80; ++i) {
    ConvolutionShape s = random_windows(random, 13);
    const bool wide = i % 8 == 0;
    s.in_channels = draw(random, 1, wide ? 65 : 7);
    s.out_channels = draw(random, 1, wide ? 5 : 15);
    if (s.in_channels % LANES == 0 && s.out_channels % LANES == 0) ++s.in_channels;
    const int examples = draw(random, 1, 75), packs = packs_of(examples);
    const Operands operands(s, examples, random);
    const int elements = s.in_channels * s.kernel_height * s.kernel_width;
    std::vector<float> dw(size(packs * s.out_channels * elements), -7.0f);
    const HostKernels::WindowShape window{
        s.in_channels,    s.height,        s.width,        s.out_channels,  s.out_height(),
        s.out_width(),    s.kernel_height, s.kernel_width, s.stride_height, s.stride_width,
        s.padding_height, s.padding_width, packs};
    run_items(size(packs * over_rounded_up(s.out_channels, TILE_A_O) * over_rounded_up(elements, TILE_A_T)) +
                  kBeyond,
              [&](HostKernels& k) {
                k.lane_chain(operands.x_packs.data(), operands.dy_packs.data(), dw.data(), window);
              });
    ASSERT_EQ(bits_of(joined(dw, packs)),
              bits_of(convolution_weight_gradient(s, examples, operands.x, operands.dy)))
        << i;
  }
}

TEST(GpuGradient, BiasesAddUpInEachLane) {
  std::mt19937 random(2);
  for (int i = 0; i < 20; ++i) {
    ConvolutionShape s = random_windows(random, 13);
    s.in_channels = 1;
    s.out_channels = draw(random, 1, 65);
    const int examples = draw(random, 1, 75), packs = packs_of(examples);
    const Operands operands(s, examples, random);
    std::vector<float> db(size(packs * s.out_channels), -7.0f);
    run_items(db.size() + kBeyond, [&](HostKernels& k) {
      k.bias_gradient(operands.dy_packs.data(), db.data(), s.out_channels, s.out_height() * s.out_width(),
                      packs);
    });
    ASSERT_EQ(bits_of(joined(db, packs)), bits_of(convolution_bias_gradient(s, examples, operands.dy))) << i;
  }
}

TEST(GpuGradient, TransposingPutsChannelsIntoLanes) {
  std::mt19937 random(3);
  for (const int channels : {1, 15, 16, 17, 48}) {
    const int positions = 6, packs = 3, blocks = over_rounded_up(channels, LANES);
    const auto x = random_floats(size(packs * channels * positions * LANES), random);
    const auto out = transposed(x, channels, positions, packs);
    for (int i = 0; i < static_cast<int>(out.size()); ++i) {
      const int e = i / LANES % LANES, line = i / LANES / LANES, at = line % positions;
      const int c = line / positions % blocks * LANES + i % LANES, pack = line / positions / blocks;
      const float expected =
          c < channels ? x[size(((pack * channels + c) * positions + at) * LANES + e)] : 0.0f;
      ASSERT_THAT(out[size(i)], SameBits(expected)) << i;
    }
  }
}

TEST(GpuGradient, AChainARow) {
  std::mt19937 random(4);
  for (int i = 0; i < 20; ++i) {
    ConvolutionShape s = random_windows(random, 13);
    s.in_channels = draw(random, 1, 3) * LANES;
    s.out_channels = draw(random, 1, 2) * LANES;
    const int examples = draw(random, 1, 40), packs = packs_of(examples);
    const Operands operands(s, examples, random);
    const HostKernels::OuterShape outer{
        s.in_channels,    s.out_channels,  s.height,       s.width,         s.out_height(),
        s.out_width(),    s.kernel_height, s.kernel_width, s.stride_height, s.stride_width,
        s.padding_height, s.padding_width, packs};
    const auto a = transposed(operands.x_packs, s.in_channels, s.height * s.width, packs);
    ASSERT_EQ(bits_of(joined(outer_product(outer, a, operands.dy_packs), packs)),
              bits_of(convolution_weight_gradient(s, examples, operands.x, operands.dy)))
        << i;
  }
}

TEST(GpuGradient, LinearLayersAreOneRow) {
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    const ConvolutionShape s{draw(random, 1, 130), draw(random, 1, 65), 1, 1, 1, 1};
    const int examples = draw(random, 1, 75), packs = packs_of(examples);
    const Operands operands(s, examples, random);
    const HostKernels::OuterShape outer{s.in_channels, s.out_channels, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, packs};
    const auto a = transposed(operands.x_packs, s.in_channels, 1, packs);
    ASSERT_EQ(
        bits_of(joined(outer_product(outer, a, operands.dy_packs), packs)),
        bits_of(linear_weight_gradient({s.in_channels, s.out_channels}, examples, operands.x, operands.dy)))
        << i;
  }
}

// As fast convolution asks: a batch is a frequency of a pack, its tiles are the columns of one row.
TEST(GpuGradient, FrequenciesAreChainsOverTilesAndExamples) {
  std::mt19937 random(6);
  const int inputs = 35, outputs = 17, tiles = 5, batches = 7;
  const auto x = random_floats(size(batches * inputs * tiles * LANES), random);
  const auto dy = random_floats(size(batches * outputs * tiles * LANES), random);
  const auto out = outer_product({inputs, outputs, 1, tiles, 1, tiles, 1, 1, 1, 1, 0, 0, batches},
                                 transposed(x, inputs, tiles, batches), dy);
  std::vector<float> expected;
  for (int batch = 0; batch < batches; ++batch) {
    for (int o = 0; o < outputs; ++o) {
      for (int c = 0; c < inputs; ++c) {
        float sum = 0;
        for (int i = 0; i < tiles * LANES; ++i) {
          sum = std::fma(dy[size((batch * outputs + o) * tiles * LANES + i)],
                         x[size((batch * inputs + c) * tiles * LANES + i)], sum);
        }
        expected.push_back(sum + 0.0f);
      }
    }
  }
  EXPECT_EQ(bits_of(out), bits_of(expected));
}

}  // namespace
}  // namespace lockstep::gpu
