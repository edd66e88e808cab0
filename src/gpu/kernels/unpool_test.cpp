// The unpool kernel as C++ against the naive twins, bit for bit.
#include <gtest/gtest.h>

#include "gpu/kernels/drawn_pool_for_test.h"
#include "reference/relu.h"

namespace lockstep::gpu {
namespace {

TEST(UnpoolKernel, IsTheGradientOfReluAndPool) {
  Draw draw(5);
  for (int i = 0; i < 20; ++i) {
    DrawnPool pool(draw);
    const reference::PoolShape drawn = pool.shape;
    pool.shape = {drawn.channels, drawn.height + 1, drawn.width + 1, 2, 2, 2, 2};
    const HostKernels::WindowShape s = pool.window();
    const std::vector<float> relu = draw.normal(pool.count() * pool.of_one(pool.inputs()));
    std::vector<float> dy = draw.normal(pool.count() * pool.of_one(pool.outputs()));
    for (float& gradient : dy) gradient = draw.whole(0, 3) == 0 ? -0.0f : gradient;
    const std::vector<float> relu_packs = packs_of(relu, pool), dy_packs = packs_of(dy, pool);
    std::vector<std::uint8_t> mask(pool.outputs() * LANES);
    for (std::size_t at = 0; at < relu_packs.size(); ++at) {
      const int position = static_cast<int>(at / LANES), x = position % s.in_width;
      const int y = position / s.in_width % s.in_height, image = position / s.in_width / s.in_height;
      if (y / 2 >= s.out_height || x / 2 >= s.out_width || !(relu_packs[at] > 0)) continue;
      const int window = (image * s.out_height + y / 2) * s.out_width + x / 2;
      mask[static_cast<std::size_t>(window) * LANES + at % LANES] |=
          static_cast<std::uint8_t>(1 << (y % 2 * 2 + x % 2));
    }
    std::vector<float> dx(pool.inputs() * LANES, kNan);
    run_items(pool.inputs() + kOverhang,
              [&](HostKernels& k) { k.unpool(dy_packs.data(), mask.data(), dx.data(), s); });
    const std::vector<float> before = reference::average_pool_gradient(pool.shape, pool.examples, dy);
    ASSERT_EQ(plain_bits(dx, pool), law_bits(reference::relu_gradient(relu, before)));
  }
}

}  // namespace
}  // namespace lockstep::gpu
