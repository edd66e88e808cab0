// Pools for the tests of kernels: drawn shapes, and their tensors as packs.
#pragma once
#include "arithmetic/pack.h"
#include "gpu/kernels/draw_for_test.h"
#include "reference/pool.h"

namespace lockstep::gpu {

// A pool of any window, stride and padding.
struct DrawnPool {
  reference::PoolShape shape;
  int examples;

  explicit DrawnPool(Draw& draw) : examples(draw.whole(1, 40)) {
    shape.channels = draw.whole(1, 5);
    shape.window_height = draw.whole(1, 4);
    shape.window_width = draw.whole(0, 1) ? shape.window_height : draw.whole(1, 4);
    shape.stride_height = draw.whole(1, 3);
    shape.stride_width = draw.whole(1, 3);
    shape.padding_height = draw.whole(0, shape.window_height - 1);
    shape.padding_width = draw.whole(0, shape.window_width - 1);
    shape.height = draw.whole(shape.window_height, 9);
    shape.width = draw.whole(shape.window_width, 9);
  }
  HostKernels::WindowShape window() const {
    return {shape.channels,
            shape.height,
            shape.width,
            shape.channels,
            shape.out_height(),
            shape.out_width(),
            shape.window_height,
            shape.window_width,
            shape.stride_height,
            shape.stride_width,
            shape.padding_height,
            shape.padding_width,
            arithmetic::pack_count(examples)};
  }
  std::size_t lanes(int height, int width) const {
    return static_cast<std::size_t>(window().packs * shape.channels * height * width);
  }
  std::size_t inputs() const { return lanes(shape.height, shape.width); }
  std::size_t outputs() const { return lanes(shape.out_height(), shape.out_width()); }
  std::size_t of_one(std::size_t lanes_of_all) const {
    return lanes_of_all / static_cast<std::size_t>(window().packs);
  }
  std::size_t count() const { return static_cast<std::size_t>(examples); }
};

inline std::vector<float> packs_of(std::span<const float> plain, const DrawnPool& pool) {
  return to_packs(plain, pool.count());
}
inline std::vector<std::uint32_t> plain_bits(std::span<const float> packs, const DrawnPool& pool) {
  return law_bits(from_packs(packs, pool.count()));
}

}  // namespace lockstep::gpu
