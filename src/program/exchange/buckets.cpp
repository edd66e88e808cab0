#include <numeric>

#include "program/exchange/exchange.h"

namespace lockstep::program::exchange {

std::vector<Bucket> buckets_of(std::span<const std::size_t> sums, std::size_t smallest) {
  std::vector<Bucket> buckets;
  std::size_t elements = 0;
  for (int sum = 0; sum < static_cast<int>(sums.size()); ++sum) {
    if (buckets.empty() || elements >= smallest) {
      const std::size_t rest = std::accumulate(sums.begin() + sum, sums.end(), std::size_t{0});
      if (buckets.empty() || rest >= smallest) {
        buckets.push_back({sum, sum});
        elements = 0;
      }
    }
    buckets.back().last = sum + 1;
    elements += sums[static_cast<std::size_t>(sum)];
  }
  return buckets;
}

}  // namespace lockstep::program::exchange
