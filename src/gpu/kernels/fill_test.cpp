// The kernel that fills memory, as C++.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"
#include "gpu/kernels/draw_for_test.h"

namespace lockstep::gpu {
namespace {

TEST(FillKernel, WritesItsRangeOnly) {
  std::vector<float> to(50, 1.0f), expected(50, 1.0f);
  std::fill_n(expected.begin(), 21, -2.5f);
  run_items(blocks(21), [&](HostKernels& k) { k.fill(to.data(), 21, -2.5f); });
  EXPECT_THAT(to, SameBits(expected));
}

}  // namespace
}  // namespace lockstep::gpu
