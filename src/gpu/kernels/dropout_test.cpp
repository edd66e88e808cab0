// The dropout kernel as C++ against the naive twin, bit for bit.
#include "reference/dropout.h"

#include <cmath>

#include <gtest/gtest.h>

#include "arithmetic/pack.h"
#include "base/random.h"
#include "gpu/kernels/draw_for_test.h"

namespace lockstep::gpu {
namespace {

struct DroppedShape {
  int channels, height, width, whole_height, whole_width;
};

TEST(DropoutKernel, EqualsTheTwinAlsoInPlaceAndOfATrimmedLayer) {
  const std::uint64_t seed = 0xfedcba9876543210;
  const double p = 0.4;
  for (const auto& [channels, height, width, whole_height, whole_width] :
       {DroppedShape{1, 1, 1, 1, 1}, {33, 1, 1, 1, 1}, {3, 5, 7, 5, 7}, {2, 4, 3, 5, 6}}) {
    constexpr int kExamples = 37;
    const int packs = arithmetic::pack_count(kExamples);
    const auto plane = static_cast<std::size_t>(height * width);
    Draw draw(3);
    reference::Draws draws{.seed = seed, .epoch = 5};
    for (int e = 0; e < kExamples; ++e) draws.examples.push_back(draw.word());
    const reference::DropoutLayer layer{"layer", p,
                                        static_cast<std::size_t>(channels * whole_height * whole_width)};
    const std::vector<float> x = draw.with_ties(static_cast<std::size_t>(kExamples * channels) * plane);
    std::vector<float> plain;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto of_one = static_cast<std::size_t>(channels) * plane;
      const std::size_t at = i % of_one, row = at % plane / static_cast<std::size_t>(width);
      const std::size_t element = (at / plane * static_cast<std::size_t>(whole_height) + row) *
                                      static_cast<std::size_t>(whole_width) +
                                  at % static_cast<std::size_t>(width);
      plain.push_back(
          dropout_keeps(layer, draws, i / of_one, element) ? x[i] * static_cast<float>(1 / (1 - p)) : 0.0f);
    }
    const std::vector<float> expected = to_packs(std::span<const float>(plain), kExamples);
    const std::vector<float> packed = to_packs(std::span<const float>(x), kExamples, kNan);
    std::vector<int> numbers(draws.examples.begin(), draws.examples.end());

    const std::size_t items = static_cast<std::size_t>(packs) * ((layer.elements + 3) / 4) + kOverhang;
    const auto run = [&](const float* from, float* to) {
      run_items(items, [&](HostKernels& k) {
        k.dropout(from, to, numbers.data(), channels, height, width, whole_height, whole_width,
                  static_cast<int>(0x76543210), static_cast<int>(0xfedcba98), 5,
                  static_cast<int>(stream_id("dropout:layer")), static_cast<int>(std::ceil(p * 0x1p24)),
                  static_cast<float>(1 / (1 - p)), kExamples, packs);
      });
    };
    std::vector<float> y(packed.size(), kNan), in_place = packed;
    run(packed.data(), y.data());
    EXPECT_EQ(law_bits(y), law_bits(expected));
    run(in_place.data(), in_place.data());
    EXPECT_EQ(law_bits(in_place), law_bits(expected));
  }
}

}  // namespace
}  // namespace lockstep::gpu
