// Star exchange: device 0 owns everything. The book's own all-reduce: all to the first device and back.
//
// Cost for k devices, S bytes of sums, c_d subtrees held by device d, C the sum of all c_d. Two rounds of
// messages. Device 0 receives (C - c_0) S, joins C S and sends (k-1) S; any other sends c_d S and receives S.
// All bytes pass through device 0, so against `sharded` the first round and the join take k times as long; on
// the way back the others copy at the same time, each S. k = 3 with 16 packs: 7 subtrees, 5 S into device 0.
// Wins nowhere; it is the measure of what sharding brings (`lockstep bench exchange`).
// Checked against plain recursion in exchange_test.cpp.
#include "program/exchange/star.h"

namespace lockstep::program::exchange {

std::vector<Shard> star(std::span<const std::size_t> sums, int /*devices*/) {
  std::vector<Shard> shards;
  shards.reserve(sums.size());
  for (std::size_t sum = 0; sum < sums.size(); ++sum) {
    shards.push_back({{static_cast<int>(sum), 0, sums[sum]}, 0});
  }
  return shards;
}

}  // namespace lockstep::program::exchange
