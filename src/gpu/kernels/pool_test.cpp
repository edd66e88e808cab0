// The pool kernels as C++ against the naive twins, bit for bit.
#include <gtest/gtest.h>

#include "gpu/kernels/drawn_pool_for_test.h"

namespace lockstep::gpu {
namespace {

TEST(PoolKernels, AveragePools) {
  Draw draw(3);
  for (int i = 0; i < 60; ++i) {
    const DrawnPool pool(draw);
    const std::vector<float> x = draw.normal(pool.count() * pool.of_one(pool.inputs()));
    const std::vector<float> dy = draw.normal(pool.count() * pool.of_one(pool.outputs()));
    const std::vector<float> x_packs = packs_of(x, pool), dy_packs = packs_of(dy, pool);
    std::vector<float> y(pool.outputs() * LANES, kNan), dx(pool.inputs() * LANES, kNan);
    run_items(pool.outputs() + kOverhang,
              [&](HostKernels& k) { k.average_pool(x_packs.data(), y.data(), pool.window()); });
    run_items(pool.inputs() + kOverhang,
              [&](HostKernels& k) { k.average_pool_gradient(dy_packs.data(), dx.data(), pool.window()); });
    ASSERT_EQ(plain_bits(y, pool), law_bits(reference::average_pool_forward(pool.shape, pool.examples, x)));
    ASSERT_EQ(plain_bits(dx, pool),
              law_bits(reference::average_pool_gradient(pool.shape, pool.examples, dy)));
  }
}

TEST(PoolKernels, MaximumPoolsChooseTheFirstOfEquals) {
  Draw draw(4);
  for (int i = 0; i < 60; ++i) {
    const DrawnPool pool(draw);
    const std::vector<float> x = draw.with_ties(pool.count() * pool.of_one(pool.inputs()));
    const std::vector<float> dy = draw.normal(pool.count() * pool.of_one(pool.outputs()));
    const std::vector<float> x_packs = packs_of(x, pool), dy_packs = packs_of(dy, pool);
    std::vector<float> y(pool.outputs() * LANES, kNan), dx(pool.inputs() * LANES, kNan);
    run_items(pool.outputs() + kOverhang,
              [&](HostKernels& k) { k.maximum_pool(x_packs.data(), y.data(), pool.window()); });
    run_items(pool.inputs() + kOverhang, [&](HostKernels& k) {
      k.maximum_pool_gradient(dy_packs.data(), x_packs.data(), dx.data(), pool.window());
    });
    ASSERT_EQ(plain_bits(y, pool), law_bits(reference::max_pool_forward(pool.shape, pool.examples, x)));
    ASSERT_EQ(plain_bits(dx, pool), law_bits(reference::max_pool_gradient(pool.shape, pool.examples, x, dy)));
  }
}

}  // namespace
}  // namespace lockstep::gpu
