// The kernel that looks for NaN and infinity, as C++.
#include <gtest/gtest.h>

#include "gpu/kernels/draw_for_test.h"

namespace lockstep::gpu {
namespace {

TEST(CheckKernel, WhatIsNotFiniteIsFound) {
  for (const float value : {kNan, kInfinity, -kInfinity, std::numeric_limits<float>::max()}) {
    for (std::size_t at = 0; at < 30; ++at) {
      std::vector<float> g(30, -1e-40f);
      g[at] = value;
      int bad = 0;
      run_items(blocks(20), [&](HostKernels& k) { k.check_finite(g.data(), &bad, 7, 20); });
      EXPECT_EQ(bad, !std::isfinite(value) && 7 <= at && at < 27 ? 1 : 0) << value << ' ' << at;
    }
  }
}

}  // namespace
}  // namespace lockstep::gpu
