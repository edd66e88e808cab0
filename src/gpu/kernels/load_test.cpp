// The kernel that loads pixels, as C++.
#include <gtest/gtest.h>

#include "arithmetic/pack.h"
#include "gpu/kernels/draw_for_test.h"

namespace lockstep::gpu {
namespace {

TEST(LoadKernel, PixelsBecomeFractions) {
  for (const int examples : {1, 16, 37}) {
    constexpr int pixels_of_one = 29;
    Draw draw(1);
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(examples * pixels_of_one));
    for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(draw.whole(0, 255));
    std::vector<float> expected;
    for (const std::uint8_t pixel : pixels) expected.push_back(static_cast<float>(pixel) / 255.0f);
    expected = to_packs(std::span<const float>(expected), static_cast<std::size_t>(examples));

    std::vector<float> y(expected.size(), kNan);
    const int packs = arithmetic::pack_count(examples);
    run_items(y.size() / LANES + kOverhang, [&](HostKernels& k) {
      k.load_pixels(pixels.data(), y.data(), pixels_of_one, examples, packs);
    });
    EXPECT_EQ(law_bits(y), law_bits(expected));
  }
}

}  // namespace
}  // namespace lockstep::gpu
