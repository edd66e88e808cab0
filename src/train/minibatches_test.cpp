#include "train/minibatches.h"

#include <gtest/gtest.h>

#include "data/shuffle.h"

namespace lockstep::train {
namespace {

TEST(Minibatches, GoThroughTheEpochsOrderAndKeepTheSmallRest) {
  Minibatches minibatches(7, 100, 32);
  EXPECT_EQ(minibatches.per_epoch(), 4);
  for (const int epoch : {1, 2, 1}) {
    const std::vector<std::uint32_t> order = data::epoch_order(7, static_cast<std::uint32_t>(epoch), 100);
    std::vector<std::uint32_t> seen;
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::span<const std::uint32_t> examples = minibatches.at(epoch, i);
      EXPECT_EQ(examples.size(), i < 3 ? 32U : 4U);
      seen.insert(seen.end(), examples.begin(), examples.end());
    }
    EXPECT_EQ(seen, order);
  }
}

}  // namespace
}  // namespace lockstep::train
