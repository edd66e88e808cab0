// The relu kernels as C++ against the naive twins, bit for bit.
#include "reference/relu.h"

#include <gtest/gtest.h>

#include "gpu/kernels/draw_for_test.h"
#include "reference/add.h"

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

TEST(ReluKernels, BackwardOfASumEqualsTheTwinsAlsoInPlace) {
  Draw draw(4);
  const std::vector<float> y = reference::relu_forward(draw.with_ties(333)), a = draw.with_ties(333),
                           b = draw.with_ties(333);
  const std::vector<float> expected = reference::relu_gradient(y, reference::add(a, b));
  const auto found = [&](const std::vector<float>& left, const std::vector<float>& right, float* to) {
    run_items(blocks(333),
              [&](HostKernels& k) { k.relu_gradient_of_sum(left.data(), right.data(), y.data(), to, 333); });
    return law_bits({to, 333});
  };
  std::vector<float> dx(333), first = a, second = b;
  EXPECT_EQ(found(a, b, dx.data()), law_bits(expected));
  EXPECT_EQ(found(first, b, first.data()), law_bits(expected));
  EXPECT_EQ(found(a, second, second.data()), law_bits(expected));
  first = a;
  EXPECT_EQ(found(first, first, first.data()), law_bits(reference::relu_gradient(y, reference::add(a, a))));
}

}  // namespace
}  // namespace lockstep::gpu
