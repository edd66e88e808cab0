// A pooled convolution in registers against plain loops, bit for bit, on every kernel row.
#include "cpu/window_plan.h"

#include <bit>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "base/aligned_buffer.h"

namespace lockstep::cpu {
namespace {

constexpr auto kPooled = program::Epilogue::relu_average_pool;

program::Convolution convolution(int in, int out, program::Extent output, program::Extent kernel) {
  program::Convolution c;
  c.input = {in, output.height + kernel.height - 1, output.width + kernel.width - 1};
  c.output = {out, output.height, output.width};
  c.kernel = kernel;
  return c;
}

std::size_t size(int n) { return static_cast<std::size_t>(n); }

void fill(std::span<float> values, std::mt19937& random) {
  std::normal_distribution<float> normal;
  for (float& v : values) v = normal(random);
}

struct Layer {
  program::Convolution c;
  AlignedBuffer<float> x, weights, bias;

  explicit Layer(const program::Convolution& convolution)
      : c(convolution),
        x(size(c.input.elements()) * kPack),
        weights(c.weights()),
        bias(size(c.output.channels)) {
    std::mt19937 random(5);
    fill(x.span(), random);
    fill(weights.span(), random);
    fill(bias.span(), random);
  }

  float sum(int channel, int row, int column, int lane, bool biased) const {
    float sum = biased ? bias[size(channel)] : 0.0f;
    std::size_t weight = size(channel * c.input.channels * c.taps());
    for (int i = 0; i < c.input.channels; ++i) {
      for (int ky = 0; ky < c.kernel.height; ++ky) {
        for (int kx = 0; kx < c.kernel.width; ++kx) {
          const int at = (i * c.input.height + row + ky) * c.input.width + column + kx;
          sum = std::fma(weights[weight++], x[size(at * kPack + lane)], sum);
        }
      }
    }
    return sum;
  }
};

struct Result {
  AlignedBuffer<float> y;
  std::vector<std::uint8_t> mask;

  explicit Result(const program::Convolution& c)
      : y(size(c.output.elements() / 4) * kPack), mask(size(c.output.elements()) * 2, 0) {}
};

Result expected(const Layer& layer, bool biased) {
  const program::Shape& out = layer.c.output;
  Result result(layer.c);
  std::size_t next = 0;
  for (int channel = 0; channel < out.channels; ++channel) {
    for (int row = 0; row < out.height; row += 2) {
      for (int column = 0; column < out.width; column += 2) {
        for (int lane = 0; lane < kPack; ++lane) {
          const auto kept = [&](int down, int right) {
            const float sum = layer.sum(channel, row + down, column + right, lane, biased);
            if (sum > 0) return sum;
            const int position = (channel * out.height + row + down) * out.width + column + right;
            result.mask[size(position * 2 + lane / 8)] |= static_cast<std::uint8_t>(1 << (lane % 8));
            return 0.0f;
          };
          const float top = kept(0, 0) + kept(0, 1), bottom = kept(1, 0) + kept(1, 1);
          result.y[next++] = (top + bottom) * 0.25f;
        }
      }
    }
  }
  return result;
}

void expect_equal(const Layer& layer, const Kernels& kernels, const CacheSizes& caches) {
  const WindowPlan plan(layer.c, kernels, caches);
  AlignedBuffer<float> prepared(plan.prepared_floats());
  for (int part = 0; part < 3; ++part) plan.prepare(layer.weights.data(), prepared.data(), part, 3);
  for (const bool biased : {true, false}) {
    Result result(layer.c);
    std::ranges::fill(result.mask, std::uint8_t{0xff});
    plan.run({.input = layer.x.data(),
              .weights = prepared.data(),
              .bias = biased ? layer.bias.data() : nullptr,
              .output = result.y.data(),
              .mask = result.mask.data()},
             nullptr);
    const Result right = expected(layer, biased);
    EXPECT_EQ(result.mask, right.mask);
    for (std::size_t i = 0; i < right.y.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(result.y[i]), std::bit_cast<std::uint32_t>(right.y[i])) << i;
    }
  }
}

TEST(WindowPlan, EqualsPlainLoops) {
  for (const auto& c : {convolution(1, 20, {24, 24}, {5, 5}), convolution(3, 7, {4, 22}, {2, 3}),
                        convolution(2, 1, {2, 2}, {1, 1}), convolution(1, 4, {6, 10}, {1, 2})}) {
    const Layer layer(c);
    for (const Kernels* kernels : usable_kernels()) {
      for (const std::size_t l1 : {std::size_t{1} << 10, std::size_t{32} << 10}) {
        SCOPED_TRACE(testing::Message() << kernels->name << ", " << c.output.channels << " channels, " << l1);
        expect_equal(layer, *kernels, {.l1 = l1});
      }
    }
  }
}

TEST(WindowPlan, SuitsShortChainsWhosePositionsShareTheirTaps) {
  const program::Convolution lenet = convolution(1, 20, {24, 24}, {5, 5});
  EXPECT_TRUE(WindowPlan::suits(lenet, kPooled));
  EXPECT_FALSE(WindowPlan::suits(lenet, program::Epilogue::relu));
  EXPECT_FALSE(WindowPlan::suits(convolution(1, 20, {24, 24}, {1, 1}), kPooled));
  EXPECT_FALSE(WindowPlan::suits(convolution(20, 50, {8, 8}, {5, 5}), kPooled));
  program::Convolution padded = lenet, strided = lenet;
  padded.padding = {1, 1};
  strided.stride = {1, 2};
  EXPECT_FALSE(WindowPlan::suits(padded, kPooled));
  EXPECT_FALSE(WindowPlan::suits(strided, kPooled));
}

}  // namespace
}  // namespace lockstep::cpu
