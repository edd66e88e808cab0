#include "reference/add.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/same_bits_for_test.h"

namespace lockstep::reference {
namespace {

using Tensor = std::vector<float>;

TEST(Add, RoundsOnceAndStoresTheSumAsItStands) {
  constexpr float kDenormal = std::numeric_limits<float>::denorm_min();
  EXPECT_THAT(add(Tensor{1, 0x1p24f, -0.0f, -0.0f, kDenormal}, Tensor{2, 1, -0.0f, 0.0f, kDenormal}),
              SameBits(Tensor{3, 0x1p24f, -0.0f, 0.0f, 2 * kDenormal}));
}

}  // namespace
}  // namespace lockstep::reference
