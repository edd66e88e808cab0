#include "store/finite_values.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/refusal_for_test.h"

namespace lockstep::store {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::string refusal(const Tensor& tensor) {
  return refusal_of(Fault::data, [&] { check_finite(tensor, "f"); });
}

TEST(FiniteValues, PassToTheLargestAndSmallest) {
  EXPECT_NO_THROW(
      check_finite({"w", {4}, {std::numeric_limits<float>::max(), -3e38f, 0x1p-149f, -0.0f}}, "f"));
  EXPECT_NO_THROW(check_finite({"none", {0, 3}, {}}, "f"));
}

TEST(FiniteValues, TheFirstOtherIsNamed) {
  EXPECT_EQ(refusal({"w", {2, 1, 3}, {0, 1, 2, 3, std::numeric_limits<float>::quiet_NaN(), kInfinity}}),
            "f: tensor \"w\": element [1, 0, 1]: expected a finite number, found nan");
  EXPECT_EQ(refusal({"b", {2}, {0, -kInfinity}}),
            "f: tensor \"b\": element [1]: expected a finite number, found -inf");
  EXPECT_EQ(refusal({"scalar", {}, {kInfinity}}),
            "f: tensor \"scalar\": element []: expected a finite number, found inf");
}

}  // namespace
}  // namespace lockstep::store
