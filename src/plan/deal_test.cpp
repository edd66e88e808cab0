#include "plan/deal.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace lockstep::plan {
namespace {

TEST(Deal, SharesCoverEveryPackOnceAndDifferByAtMostOne) {
  for (int packs = 0; packs <= 40; ++packs) {
    for (int holders = 1; holders <= 20; ++holders) {
      const std::vector<arithmetic::PackRange> shares = deal_packs({3, 3 + packs}, holders);
      ASSERT_EQ(shares.size(), static_cast<std::size_t>(holders));
      int next = 3, smallest = packs, largest = 0;
      for (const arithmetic::PackRange& share : shares) {
        EXPECT_EQ(share.first, next);
        next = share.last;
        smallest = std::min(smallest, share.size());
        largest = std::max(largest, share.size());
      }
      EXPECT_EQ(next, 3 + packs);
      EXPECT_LE(largest - smallest, 1);
    }
  }
}

TEST(Deal, WithTooFewPacksTheLastGetNothing) {
  const std::vector<arithmetic::PackRange> expected{{0, 1}, {1, 2}, {2, 2}, {2, 2}};
  EXPECT_EQ(deal_packs({0, 2}, 4), expected);
  EXPECT_EQ(busy_holders(2, 4), 2);
  EXPECT_EQ(busy_holders(16, 3), 3);
}

}  // namespace
}  // namespace lockstep::plan
