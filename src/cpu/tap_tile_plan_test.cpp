// Direct convolution layer by layer against the naive twin: every kernel row, many shapes, every way to cut
// the work for a cache, bit for bit.
#include "cpu/tap_tile_plan.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cpu/layers_for_test.h"
#include "reference/convolution.h"

namespace lockstep::cpu {
namespace {

namespace reference = reference;
using arithmetic::ConvolutionShape;
using program::Epilogue;

// in and out channels, height, width, kernel, stride, padding. The first have even outputs, as in front of a
// pool; the last are linear.
constexpr ConvolutionShape kLayers[] = {
    {20, 50, 12, 12, 5, 5, 1, 1, 0, 0}, {3, 7, 9, 10, 2, 3, 1, 1, 0, 0},  {33, 18, 6, 8, 3, 3, 1, 1, 1, 1},
    {48, 9, 4, 40, 3, 3, 1, 1, 1, 1},   {16, 16, 9, 7, 3, 3, 2, 2, 1, 1}, {5, 65, 5, 11, 1, 2, 1, 3, 0, 2},
    {17, 6, 2, 3, 5, 4, 1, 2, 4, 3},    {130, 2, 3, 3, 1, 1, 2, 2, 1, 1}, {800, 33, 1, 1, 1, 1, 1, 1, 0, 0},
    {40, 300, 1, 1, 1, 1, 1, 1, 0, 0},
};
constexpr std::size_t kPoolable = 4;

program::Convolution geometry(const ConvolutionShape& s) {
  return {.input = {s.in_channels, s.height, s.width},
          .output = {s.out_channels, s.out_height(), s.out_width()},
          .kernel = {s.kernel_height, s.kernel_width},
          .stride = {s.stride_height, s.stride_width},
          .padding = {s.padding_height, s.padding_width}};
}

Tensor relu_of(Tensor values) {
  for (float& v : values) v = v > 0 ? v : 0.0f;
  return values;
}

// [..., height, width] halved by windows of 2x2; height and width are even.
Tensor pooled(const Tensor& values, int columns) {
  Tensor means;
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t row = 0; row < values.size() / width; row += 2) {
    for (std::size_t x = 0; x < width; x += 2) {
      const float* const a = &values[row * width + x];
      means.push_back(((a[0] + a[1]) + (a[width] + a[width + 1])) * 0.25f);
    }
  }
  return means;
}

class TapTileLayer : public testing::TestWithParam<ConvolutionShape> {
 protected:
  static constexpr int kPacks = 3, kExamples = 2 * kPack + 5;

  const ConvolutionShape shape = GetParam();
  const program::Convolution c = geometry(shape);
  const std::size_t inputs = static_cast<std::size_t>(c.input.elements()),
                    outputs = static_cast<std::size_t>(c.output.elements());
  std::mt19937 random{11};
  const Tensor x = random_numbers(inputs * kExamples, random),
               dy = random_numbers(outputs * kExamples, random),
               weights = random_numbers(c.weights(), random),
               bias = random_numbers(static_cast<std::size_t>(shape.out_channels), random);

  // Runs `plan` over all packs, as many at once as it takes, and gives what the examples get.
  Tensor run(const TapTilePlan& plan, const Tensor& from, std::size_t in_elements, std::size_t out_elements,
             const float* start, std::vector<std::uint8_t>& mask) const {
    AlignedBuffer<float> prepared(plan.prepared_floats()), scratch(plan.scratch_floats());
    for (const int part : {2, 0, 1}) plan.prepare(weights.data(), prepared.data(), part, 3);
    const AlignedBuffer<float> input = to_packs(from, in_elements, kPacks);
    AlignedBuffer<float> output(out_elements * kPacks * kPack);
    mask.assign(outputs * kPacks * 2, 0xff);
    for (int first = 0; first < kPacks;) {
      const int packs = std::min(plan.most_packs(), kPacks - first);
      const auto before = static_cast<std::size_t>(first);
      plan.run({.input = input.data() + before * in_elements * kPack,
                .weights = plan.canonical() ? weights.data() : prepared.data(),
                .bias = start,
                .output = output.data() + before * out_elements * kPack,
                .mask = mask.data() + before * outputs * 2,
                .packs = packs},
               scratch.data());
      first += packs;
    }
    return from_packs(output, out_elements, kExamples);
  }

  // For every kernel row and every cutting. A layer that is not linear takes one pack at a time.
  template <class Check>
  void everywhere(Check check) const {
    for (const Kernels* kernels : usable_kernels()) {
      for (const CacheSizes& caches : kCaches) {
        for (int most_packs = 1; most_packs <= (c.linear() ? kPacks : 1); ++most_packs) {
          SCOPED_TRACE(testing::Message()
                       << kernels->name << ", L1 of " << caches.l1 << ", " << most_packs << " packs at once");
          check(*kernels, caches, most_packs);
        }
      }
    }
  }
};

TEST_P(TapTileLayer, GoesForwardLikeItsTwin) {
  const Tensor sums = reference::convolution_forward(shape, kExamples, x, weights, bias);
  std::vector<std::uint8_t> mask;
  everywhere([&](const Kernels& kernels, const CacheSizes& caches, int most_packs) {
    const TapTilePlan plain(c, Direction::forward, Epilogue::none, most_packs, kernels, caches);
    EXPECT_EQ(bits_of(run(plain, x, inputs, outputs, bias.data(), mask)), bits_of(sums));
    const TapTilePlan relu(c, Direction::forward, Epilogue::relu, most_packs, kernels, caches);
    EXPECT_EQ(bits_of(run(relu, x, inputs, outputs, bias.data(), mask)), bits_of(relu_of(sums)));
  });
}

class PooledTapTileLayer : public TapTileLayer {};

TEST_P(PooledTapTileLayer, GoesForwardLikeItsTwin) {
  const Tensor sums = reference::convolution_forward(shape, kExamples, x, weights, bias);
  const AlignedBuffer<float> sum_packs = to_packs(sums, outputs, kPacks);
  const auto expected = bits_of(pooled(relu_of(sums), c.output.width));
  std::vector<std::uint8_t> mask;
  everywhere([&](const Kernels& kernels, const CacheSizes& caches, int most_packs) {
    const TapTilePlan plan(c, Direction::forward, Epilogue::relu_average_pool, most_packs, kernels, caches);
    EXPECT_EQ(bits_of(run(plan, x, inputs, outputs / 4, bias.data(), mask)), expected);
    for (std::size_t i = 0; i < static_cast<std::size_t>(kExamples / kPack) * outputs * kPack; ++i) {
      const bool blocked = (mask[i / 8] >> (i % 8) & 1) != 0;
      ASSERT_EQ(blocked, !(sum_packs[i] > 0)) << i;
    }
  });
}

TEST_P(TapTileLayer, GoesBackLikeItsTwin) {
  const auto expected = bits_of(reference::convolution_input_gradient(shape, kExamples, dy, weights));
  std::vector<std::uint8_t> mask;
  everywhere([&](const Kernels& kernels, const CacheSizes& caches, int most_packs) {
    const TapTilePlan plan(c, Direction::input_gradient, Epilogue::none, most_packs, kernels, caches);
    EXPECT_EQ(bits_of(run(plan, dy, outputs, inputs, nullptr, mask)), expected);
  });
}

std::string name_of(const testing::TestParamInfo<ConvolutionShape>& instance) {
  const ConvolutionShape& s = instance.param;
  return fmt::format("{}to{}of{}x{}", s.in_channels, s.out_channels, s.kernel_height, s.kernel_width);
}
INSTANTIATE_TEST_SUITE_P(Layers, TapTileLayer, testing::ValuesIn(kLayers), name_of);
INSTANTIATE_TEST_SUITE_P(Layers, PooledTapTileLayer, testing::ValuesIn(kLayers, kLayers + kPoolable),
                         name_of);

// Else the tests above would try one way to cut a layer five times.
TEST(TapTilePlan, IsCutForItsCaches) {
  for (const Kernels* kernels : usable_kernels()) {
    std::set<std::size_t> sizes;
    for (const CacheSizes& caches : kCaches)
      sizes.insert(TapTilePlan(geometry(kLayers[0]), Direction::forward, Epilogue::none, 1, *kernels, caches)
                       .scratch_floats());
    EXPECT_GT(sizes.size(), 1U) << kernels->name;
  }
}

}  // namespace
}  // namespace lockstep::cpu
