// Sharded exchange: every device owns 1/k of every large sum, so all of them receive, join and send at once.
// This is the book's third exercise, and reduce-scatter plus all-gather without a ring.
//
// Cost for k devices, S bytes of sums, c_d complete subtrees held by device d, C the sum of all c_d. Two
// rounds of messages whatever k is. Device d sends c_d S(k-1)/k and receives (C - c_d) S/k, joins C S/k, then
// sends and receives S(k-1)/k. Where all shares are the same power of two of packs, each is one complete
// subtree, c_d is 1, and both rounds move S(k-1)/k each way: the least that any all-reduce can do.
// Others pay for the law with more subtrees: 16 packs over k = 3 are shares of 6, 5 and 5 packs, which are
// 2, 3 and 2 subtrees, C = 7; the first round moves 7/3 of the bytes, both rounds together 5/3. Never more
// than 2 log2(packs / k) + 1 subtrees a device, for k up to the packs. Sums below kSmallestShard elements a
// device are not cut that far: they go whole to who has least to do. Checked against plain recursion in
// exchange_test.cpp.
#include "program/exchange/sharded.h"

#include <algorithm>
#include <numeric>

#include "base/divide.h"

namespace lockstep::program::exchange {
namespace {

constexpr std::size_t kSmallestShard = 64 * kLineFloats;  // 4 KB: below, a message costs more than its bytes

// The `count` devices with the least elements, lowest number first among equals, in rising order.
std::vector<int> least_loaded(const std::vector<std::size_t>& load, std::size_t count) {
  std::vector<int> order(load.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int d) { return load[static_cast<std::size_t>(d)]; });
  order.resize(count);
  std::ranges::sort(order);
  return order;
}

}  // namespace

std::vector<Shard> sharded(std::span<const std::size_t> sums, int devices) {
  std::vector<Shard> shards;
  std::vector<std::size_t> load(static_cast<std::size_t>(devices), 0);
  for (std::size_t sum = 0; sum < sums.size(); ++sum) {
    const std::size_t lines = divide_up(sums[sum], kLineFloats);
    const std::size_t pieces = std::clamp<std::size_t>(sums[sum] / kSmallestShard, 1, load.size());
    const std::vector<int> owners = least_loaded(load, pieces);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const std::size_t first = lines * piece / pieces * kLineFloats;
      const std::size_t last = std::min(sums[sum], lines * (piece + 1) / pieces * kLineFloats);
      shards.push_back({{static_cast<int>(sum), first, last - first}, owners[piece]});
      load[static_cast<std::size_t>(owners[piece])] += last - first;
    }
  }
  return shards;
}

}  // namespace lockstep::program::exchange
