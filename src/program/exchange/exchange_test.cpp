// Who owns what, and what travels together.
#include "program/exchange/exchange.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.h"

namespace lockstep::program::exchange {
namespace {

TEST(Exchange, ShardsOfAKindAreEvenAndNoneIsSmallerThanAMessageIsWorth) {
  const std::vector<std::size_t> sums{1, 1280, 10, 102400, 128, 25000, 50, 180, 20};
  for (int devices = 1; devices <= 16; ++devices) {
    std::vector<std::size_t> load(static_cast<std::size_t>(devices), 0);
    for (const Shard& shard : kind_named("sharded").shards(sums, devices)) {
      load[static_cast<std::size_t>(shard.owner)] += shard.range.count;
      EXPECT_EQ(shard.range.first % 16, 0U) << "two devices share a cache line";
      const std::size_t whole = sums[static_cast<std::size_t>(shard.range.sum)];
      EXPECT_TRUE(shard.range.count == whole || shard.range.count > 1024 - 16) << shard.range.count;
    }
    // the largest sum that is not cut, and a line for each of those that are
    EXPECT_LE(std::ranges::max(load) - std::ranges::min(load), 1280U + 2 * 16) << devices;
  }
  for (const Shard& shard : kind_named("star").shards(sums, 5)) EXPECT_EQ(shard.owner, 0);
}

TEST(Exchange, SmallSumsGoWithTheirNeighbours) {
  using Buckets = std::vector<Bucket>;
  constexpr std::size_t kEnough = 16 * 1024;
  const auto buckets = [](std::vector<std::size_t> sums) { return buckets_of(sums); };
  EXPECT_EQ(buckets({}), Buckets{});
  EXPECT_EQ(buckets({1}), (Buckets{{0, 1}}));
  EXPECT_EQ(buckets({1, 2, 3}), (Buckets{{0, 3}}));
  EXPECT_EQ(buckets({kEnough, kEnough}), (Buckets{{0, 1}, {1, 2}}));
  EXPECT_EQ(buckets({kEnough - 1, kEnough}), (Buckets{{0, 2}}));
  EXPECT_EQ(buckets({kEnough, kEnough - 1}), (Buckets{{0, 2}})) << "what is left is too small to go alone";
  EXPECT_EQ(buckets({kEnough, 1, kEnough}), (Buckets{{0, 1}, {1, 3}}));
  EXPECT_EQ(buckets({1, kEnough, 1, 1, kEnough, 1}), (Buckets{{0, 2}, {2, 6}}));
  EXPECT_EQ(buckets({kEnough, kEnough, kEnough, 5}), (Buckets{{0, 1}, {1, 2}, {2, 4}}));
}

TEST(Exchange, KindsHaveNames) {
  EXPECT_EQ(kind_named("star").name, "star");
  EXPECT_EQ(kinds().front().name, "sharded");
  try {
    kind_named("shraded");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find("sharded"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lockstep::program::exchange
