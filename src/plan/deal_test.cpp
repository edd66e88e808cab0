#include "plan/deal.h"

#include <algorithm>
#include <cmath>

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
}

std::vector<int> sizes(int packs, const std::vector<double>& weights) {
  std::vector<int> sizes;
  for (const arithmetic::PackRange& share : deal_packs({0, packs}, static_cast<int>(weights.size()), weights))
    sizes.push_back(share.size());
  return sizes;
}

TEST(Deal, SharesFollowTheWeightsByLargestRemainder) {
  using Sizes = std::vector<int>;
  EXPECT_EQ(sizes(16, {3, 1}), (Sizes{12, 4}));
  EXPECT_EQ(sizes(16, {1, 3}), (Sizes{4, 12}));
  EXPECT_EQ(sizes(6, {3, 1}), (Sizes{5, 1}));  // 4.5 and 1.5: of equal remainders the first
  EXPECT_EQ(sizes(10, {1, 1.5, 2.2}), (Sizes{2, 3, 5}));
  EXPECT_EQ(sizes(16, {1, 1000, 1}), (Sizes{0, 16, 0}));
  EXPECT_EQ(sizes(0, {2, 1}), (Sizes{0, 0}));
  EXPECT_EQ(sizes(16, {1e308, 1e308, 1e-308}), (Sizes{8, 8, 0}));
  EXPECT_EQ(sizes(7, {5e-324, 5e-324}), (Sizes{4, 3}));
}

TEST(Deal, EqualOrNoWeightsGiveTheEqualShares) {
  for (int packs = 0; packs <= 70; ++packs) {
    for (int holders = 1; holders <= 70; ++holders) {
      const std::vector<arithmetic::PackRange> equal = deal_packs({3, 3 + packs}, holders);
      EXPECT_EQ(deal_packs({3, 3 + packs}, holders, {}), equal);
      for (const double weight : {1.0, 0.1, 7.3})
        EXPECT_EQ(deal_packs({3, 3 + packs}, holders,
                             std::vector<double>(static_cast<std::size_t>(holders), weight)),
                  equal)
            << packs << " packs for " << holders;
    }
  }
}

TEST(Deal, WeightedSharesCoverEveryPackOnceAndAreOffByLessThanOne) {
  unsigned state = 1;
  const auto next = [&] { return (state = state * 1664525U + 1013904223U) >> 16; };
  for (int round = 0; round < 2000; ++round) {
    const int packs = static_cast<int>(next() % 200);
    std::vector<double> weights(1 + next() % 12);
    double sum = 0;
    for (double& weight : weights) sum += weight = 0.01 + next() % 1000;
    const std::vector<arithmetic::PackRange> shares =
        deal_packs({5, 5 + packs}, static_cast<int>(weights.size()), weights);
    int at = 5;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      EXPECT_EQ(shares[i].first, at);
      at = shares[i].last;
      EXPECT_LT(std::abs(shares[i].size() - packs * weights[i] / sum), 1 + 1e-9);
    }
    EXPECT_EQ(at, 5 + packs);
  }
}

}  // namespace
}  // namespace lockstep::plan
