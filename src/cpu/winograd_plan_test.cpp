// Fast convolution layer by layer against the naive twin: every kernel row, many shapes, every way to cut the
// work, bit for bit.
#include "cpu/winograd_plan.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "base/aligned_buffer.h"
#include "cpu/layers_for_test.h"
#include "cpu/winograd_gradient_plan.h"
#include "cpu/winograd_weights.h"
#include "reference/convolution.h"
#include "reference/winograd.h"

namespace lockstep::cpu {
namespace {

namespace reference = reference;

struct Layer {
  int in, out, height, width, kernel, padding, tile;
};

// Every tile under the kernels that it is for, whatever the law's table would choose; odd sizes, tiles that
// overhang, padding up to wider than the kernel, channels beside multiples of everything.
constexpr Layer kLayers[] = {
    {20, 50, 12, 12, 5, 0, 4}, {16, 16, 4, 4, 3, 1, 4},   {17, 33, 9, 7, 3, 1, 4},  {65, 16, 5, 6, 3, 2, 4},
    {16, 64, 7, 7, 3, 3, 4},   {23, 19, 10, 11, 3, 4, 4}, {16, 31, 9, 7, 3, 1, 2},  {32, 65, 6, 8, 3, 0, 2},
    {18, 20, 5, 5, 3, 4, 2},   {16, 17, 6, 9, 5, 0, 2},   {48, 21, 4, 7, 5, 2, 2},  {19, 16, 3, 5, 5, 4, 2},
    {16, 40, 11, 5, 5, 1, 4},  {33, 16, 8, 9, 5, 3, 4},   {24, 24, 13, 4, 5, 4, 4}, {64, 64, 8, 8, 3, 1, 4},
    {32, 48, 7, 7, 3, 1, 7},   {17, 35, 9, 16, 3, 0, 7},  {33, 18, 14, 6, 3, 1, 7}, {16, 65, 5, 4, 3, 4, 7},
    {70, 34, 9, 9, 3, 2, 7},
};

program::Convolution geometry(const Layer& l) {
  const int height = l.height + 2 * l.padding - l.kernel + 1, width = l.width + 2 * l.padding - l.kernel + 1;
  return {.input = {l.in, l.height, l.width},
          .output = {l.out, height, width},
          .kernel = {l.kernel, l.kernel},
          .padding = {l.padding, l.padding},
          .algorithms = {arithmetic::ConvolutionAlgorithm::winograd,
                         arithmetic::WeightGradientAlgorithm::winograd, l.tile}};
}

arithmetic::ConvolutionShape shape(const Layer& l) {
  return {.in_channels = l.in,
          .out_channels = l.out,
          .height = l.height,
          .width = l.width,
          .kernel_height = l.kernel,
          .kernel_width = l.kernel,
          .padding_height = l.padding,
          .padding_width = l.padding};
}

class WinogradLayer : public testing::TestWithParam<Layer> {
 protected:
  static constexpr int kPacks = 3, kExamples = 2 * kPack + 5;

  // Runs `check` for every kernel row and every cutting.
  template <class Check>
  static void everywhere(Check check) {
    for (const Kernels* kernels : usable_kernels()) {
      for (const CacheSizes& caches : kCaches) {
        SCOPED_TRACE(testing::Message() << kernels->name << ", L2 of " << caches.l2);
        check(*kernels, caches);
      }
    }
  }

  std::mt19937 random{7};
  const Layer layer = GetParam();
  const program::Convolution c = geometry(layer);
  const std::size_t inputs = static_cast<std::size_t>(c.input.elements()),
                    outputs = static_cast<std::size_t>(c.output.elements());
  const Tensor x = random_numbers(inputs * kExamples, random),
               dy = random_numbers(outputs * kExamples, random),
               weights = random_numbers(c.weights(), random),
               bias = random_numbers(static_cast<std::size_t>(layer.out), random);
  const AlignedBuffer<float> x_packs = to_packs(x, inputs, kPacks), dy_packs = to_packs(dy, outputs, kPacks);
};

TEST_P(WinogradLayer, GoesForwardAndBackLikeItsTwin) {
  const auto y_bits =
      bits_of(reference::winograd_forward(shape(layer), layer.tile, kExamples, x, weights, bias));
  const auto dx_bits =
      bits_of(reference::winograd_input_gradient(shape(layer), layer.tile, kExamples, dy, weights));
  everywhere([&](const Kernels& kernels, const CacheSizes& caches) {
    for (const int packs : {1, kPacks}) {
      const int tiles = packs * TileGrid(c).count();
      const ProductLayout ahead = make_product_layout(c, Direction::forward, tiles, kernels, caches),
                          back = make_product_layout(c, Direction::input_gradient, tiles, kernels, caches);
      const WinogradWeights of_layer(c, ahead, back, kernels);
      AlignedBuffer<float> prepared(of_layer.prepared_floats());
      for (const int part : {2, 0, 1}) of_layer.prepare(weights.data(), prepared.data(), part, 3);
      const auto run = [&](Direction direction, const ProductLayout& layout,
                           const AlignedBuffer<float>& input, std::size_t in_elements,
                           std::size_t out_elements) {
        const WinogradPlan plan(c, direction, program::Epilogue::none, packs, layout,
                                of_layer.offset(direction), kernels);
        AlignedBuffer<float> output(out_elements * kPacks * kPack), scratch(plan.scratch_floats());
        std::ranges::fill(output.span(), 1e30f);  // what is not written shows
        for (int pack = 0; pack < kPacks; pack += packs) {
          const auto at = static_cast<std::size_t>(pack) * kPack;
          plan.run({input.data() + at * in_elements, prepared.data(), bias.data(),
                    output.data() + at * out_elements, nullptr, packs},
                   scratch.data());
        }
        return bits_of(from_packs(output, out_elements, kExamples));
      };
      EXPECT_TRUE(run(Direction::forward, ahead, x_packs, inputs, outputs) == y_bits);
      EXPECT_TRUE(run(Direction::input_gradient, back, dy_packs, outputs, inputs) == dx_bits);
    }
  });
}

TEST_P(WinogradLayer, SumsWeightGradientsLikeItsTwin) {
  const auto expected =
      bits_of(reference::winograd_weight_gradient(shape(layer), layer.tile, kExamples, x, dy));
  const auto expected_bias = bits_of(reference::convolution_bias_gradient(shape(layer), kExamples, dy));
  everywhere([&](const Kernels& kernels, const CacheSizes& caches) {
    const WinogradGradientPlan plan(c, kernels, caches);
    AlignedBuffer<float> scratch(plan.scratch_floats());
    // packs 0 and 1 meet first, then 2
    Tensor sums(c.weights()), bias_sums(bias.size());
    for (std::size_t pack = 0; pack < kPacks; ++pack) {
      JoinTarget to_weights, to_bias;
      to_weights.joins = to_bias.joins = pack == 0 ? 0 : 1;
      to_weights.sums[0] = to_weights.destination = sums.data();
      to_bias.sums[0] = to_bias.destination = bias_sums.data();
      plan.run(x_packs.data() + pack * inputs * kPack, dy_packs.data() + pack * outputs * kPack, to_weights,
               to_bias, scratch.data());
    }
    EXPECT_TRUE(bits_of(sums) == expected);
    EXPECT_TRUE(bits_of(bias_sums) == expected_bias);
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, WinogradLayer, testing::ValuesIn(kLayers), [](const auto& instance) {
  const Layer& l = instance.param;
  return "From" + std::to_string(l.in) + "To" + std::to_string(l.out) + "On" + std::to_string(l.height) +
         "x" + std::to_string(l.width) + "Kernel" + std::to_string(l.kernel) + "Padding" +
         std::to_string(l.padding) + "Tile" + std::to_string(l.tile);
});

}  // namespace
}  // namespace lockstep::cpu
