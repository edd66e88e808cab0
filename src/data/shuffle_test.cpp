#include "data/shuffle.h"

#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace lockstep::data {
namespace {

using ::testing::ElementsAre;
using Order = std::vector<std::uint32_t>;

Order plainly_sorted(const std::vector<std::uint64_t>& keys) {
  Order order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
  return order;
}

// Values of an independent program written from the law's text.
TEST(EpochOrder, IsTheLaws) {
  EXPECT_THAT(epoch_order(0, 0, 12), ElementsAre(3, 10, 1, 9, 6, 8, 5, 4, 11, 2, 7, 0));
  EXPECT_THAT(epoch_order(0x123456789abcdef0, 7, 11), ElementsAre(10, 9, 0, 8, 6, 2, 1, 4, 7, 3, 5));
  const Order large = epoch_order(0, 1, 60000);
  EXPECT_THAT(Order(large.begin(), large.begin() + 6), ElementsAre(50969, 50529, 2517, 42644, 30774, 19574));
  EXPECT_THAT(Order(large.end() - 3, large.end()), ElementsAre(53894, 17847, 55418));
}

TEST(EpochOrder, HoldsEveryIndexOnce) {
  for (const std::uint32_t count : {0u, 1u, 2u, 3u, 1000u, 60000u}) {
    Order order = epoch_order(5, 2, count);
    ASSERT_EQ(order.size(), count);
    std::sort(order.begin(), order.end());
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(order[i], i);
  }
}

TEST(EpochOrder, SeedAndEpochChangeIt) {
  const Order order = epoch_order(5, 2, 100);
  EXPECT_EQ(epoch_order(5, 2, 100), order);
  EXPECT_NE(epoch_order(6, 2, 100), order);
  EXPECT_NE(epoch_order(5 + (std::uint64_t{1} << 32), 2, 100), order);
  EXPECT_NE(epoch_order(5, 3, 100), order);
}

TEST(OrderOfKeys, EqualKeysStayInIndexOrder) {
  EXPECT_THAT(order_of_keys(std::vector<std::uint64_t>{7, 7, 3, 7, 3}), ElementsAre(2, 4, 0, 1, 3));
}

TEST(OrderOfKeys, EqualsAPlainSortHoweverKeysAreSpread) {
  std::vector<std::uint64_t> spread, low, equal(1000, ~std::uint64_t{0}), falling;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const auto words = random_block(1, i, 0, 0);
    spread.push_back(std::uint64_t{words[0]} << 32 | words[1]);
    low.push_back(words[2] % 1000);
    falling.push_back((100000 - i) << 40);
  }
  for (const auto& keys : {spread, low, equal, falling}) EXPECT_EQ(order_of_keys(keys), plainly_sorted(keys));
}

}  // namespace
}  // namespace lockstep::data
