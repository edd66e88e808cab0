// The kernels of sums as C++ against the naive twins, bit for bit.
#include "reference/add.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "gpu/kernels/draw_for_test.h"
#include "reference/relu.h"

namespace lockstep::gpu {
namespace {

TEST(AddKernel, EqualsTheTwinAlsoInPlace) {
  constexpr int kCount = 333;
  constexpr std::size_t kItems = kCount / LANES + 6;  // the last ones must do nothing
  std::mt19937 random(9);
  std::normal_distribution<float> normal;
  std::vector<float> a(kCount), b(kCount), to(kCount + 3 * LANES, -1.0f);
  for (float& v : a) v = normal(random);
  for (float& v : b) v = std::ldexp(normal(random), static_cast<int>(random() % 40) - 20);
  a[0] = b[0] = -0.0f;
  a[1] = b[1] = 0x1p-149f;
  const std::vector<float> expected = reference::add(a, b);

  run_items(kItems, [&](HostKernels& k) { k.add(a.data(), b.data(), to.data(), kCount); });
  EXPECT_THAT(std::vector<float>(to.begin(), to.begin() + kCount), SameBits(expected));
  EXPECT_THAT(std::vector<float>(to.begin() + kCount, to.end()),
              SameBits(std::vector<float>(3 * LANES, -1.0f)));
  std::vector<float> first = a, second = b;
  run_items(kItems, [&](HostKernels& k) { k.add(first.data(), b.data(), first.data(), kCount); });
  EXPECT_THAT(first, SameBits(expected));
  run_items(kItems, [&](HostKernels& k) { k.add(a.data(), second.data(), second.data(), kCount); });
  EXPECT_THAT(second, SameBits(expected));
  run_items(kItems, [&](HostKernels& k) { k.add(first.data(), first.data(), first.data(), kCount); });
  EXPECT_THAT(first, SameBits(reference::add(expected, expected)));
}

TEST(AddKernel, BehindAReluEqualsTheTwinsAlsoInPlace) {
  Draw draw(3);
  const std::vector<float> a = draw.with_ties(333), b = draw.with_ties(333);
  const std::vector<float> expected = reference::relu_forward(reference::add(a, b));
  std::vector<float> to(333), first = a, second = b;
  run_items(blocks(333), [&](HostKernels& k) { k.add_relu(a.data(), b.data(), to.data(), 333); });
  EXPECT_EQ(law_bits(to), law_bits(expected));
  run_items(blocks(333), [&](HostKernels& k) { k.add_relu(first.data(), b.data(), first.data(), 333); });
  EXPECT_EQ(law_bits(first), law_bits(expected));
  run_items(blocks(333), [&](HostKernels& k) { k.add_relu(a.data(), second.data(), second.data(), 333); });
  EXPECT_EQ(law_bits(second), law_bits(expected));
}

}  // namespace
}  // namespace lockstep::gpu
