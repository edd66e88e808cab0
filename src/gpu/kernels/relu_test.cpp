// The relu kernels as C++ against the naive twins, bit for bit.
#include "reference/relu.h"

#include <gtest/gtest.h>

#include "gpu/kernels/draw_for_test.h"

namespace lockstep::gpu {
namespace {

TEST(ReluKernels, EqualTheTwinsAlsoInPlace) {
  Draw draw(2);
  const std::vector<float> x = draw.with_ties(333), dy = draw.normal(333);
  std::vector<float> y(333), dx(333);
  run_items(blocks(333), [&](HostKernels& k) { k.relu(x.data(), y.data(), 333); });
  run_items(blocks(333), [&](HostKernels& k) { k.relu_gradient(dy.data(), y.data(), dx.data(), 333); });
  EXPECT_EQ(law_bits(y), law_bits(reference::relu_forward(x)));
  EXPECT_EQ(law_bits(dx), law_bits(reference::relu_gradient(y, dy)));
  std::vector<float> in_place = dy;
  run_items(blocks(333),
            [&](HostKernels& k) { k.relu_gradient(in_place.data(), y.data(), in_place.data(), 333); });
  EXPECT_EQ(law_bits(in_place), law_bits(dx));
}

}  // namespace
}  // namespace lockstep::gpu
