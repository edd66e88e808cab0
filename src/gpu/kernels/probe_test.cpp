// The kernels that probe a device, as C++ against the law.
#include <gtest/gtest.h>

#include "arithmetic/scalar.h"
#include "base/same_bits_for_test.h"
#include "gpu/kernels/draw_for_test.h"

namespace lockstep::gpu {
namespace {

// Every order of special values, then any bits.
TEST(ProbeKernels, ProbesShowEveryOperation) {
  constexpr std::array special{0.0f, -0.0f,     1.0f,       -1.0f, 1e-40f, -1e-45f, 0x1p-126f,
                               3.0f, kInfinity, -kInfinity, kNan,  3e38f,  88.7f,   -103.5f};
  Draw draw(10);
  constexpr int count = 16 * 1024;
  std::vector<float> a = draw.any_bits(count), b = draw.any_bits(count), c = draw.any_bits(count);
  std::size_t at = 0;
  for (const float x : special) {
    for (const float y : special) {
      for (const float z : special) {
        a[at] = x;
        b[at] = y;
        c[at++] = z;
      }
    }
  }
  std::vector<float> out(10 * count), lanes_out(12 * count), expected(10 * count), lanes_expected(12 * count);
  run_elements(count + kOverhang,
               [&](HostKernels& k) { k.probe_arithmetic(a.data(), b.data(), c.data(), out.data(), count); });
  run_items(count / LANES + kOverhang,
            [&](HostKernels& k) { k.probe_lanes(a.data(), b.data(), c.data(), lanes_out.data(), count); });
  for (std::size_t i = 0; i < count; ++i) {
    const float x = a[i], y = b[i], z = c[i], product = y * z, other = x * z;
    const std::array results{x + y,
                             x * y,
                             std::fma(x, y, z),
                             x / y,
                             std::sqrt(x),
                             arithmetic::exp_law(x),
                             arithmetic::log_law(x),
                             product + x,
                             static_cast<float>(std::bit_cast<std::int32_t>(x)),
                             static_cast<float>(std::bit_cast<std::uint32_t>(x) & 255U) / 255.0f};
    for (std::size_t o = 0; o < results.size(); ++o) expected[o * count + i] = results[o];
    const std::array in_lanes{x + y,
                              x * y,
                              std::fma(x, y, z),
                              x / y,
                              arithmetic::exp_law(x),
                              arithmetic::log_law(x),
                              product + x,
                              other + 0.0f,
                              x > 0 || std::isnan(x) ? x : 0.0f,
                              y > x || (std::isnan(y) && !std::isnan(x)) ? y : x,
                              std::isfinite(x) ? 0.0f : 1.0f,
                              std::sqrt(x)};
    for (std::size_t o = 0; o < in_lanes.size(); ++o) lanes_expected[o * count + i] = in_lanes[o];
  }
  EXPECT_EQ(law_bits(out), law_bits(expected));
  EXPECT_EQ(law_bits(lanes_out), law_bits(lanes_expected));
}

TEST(ProbeKernels, TheSpeedProbeComputesItsChains) {
  constexpr std::size_t kItems = 8;  // whole groups: this kernel has no range to guard
  std::vector<float> out(kItems * LANES);
  run_items(kItems, [&](HostKernels& k) { k.fma_rate(out.data(), 5); });
  for (std::size_t item = 0; item < kItems; ++item) {
    float sum = 0;
    for (std::size_t chain = 0; chain < HostKernels::kFmaRateChains; ++chain) {
      auto value = static_cast<float>(item + chain);
      for (int round = 0; round < 5; ++round) value = std::fma(value, 0.75f, 0.25f);
      sum = chain == 0 ? value : sum + value;
    }
    for (std::size_t lane = 0; lane < LANES; ++lane) EXPECT_THAT(out[item * LANES + lane], SameBits(sum));
  }
}

}  // namespace
}  // namespace lockstep::gpu
