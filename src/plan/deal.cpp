#include "plan/deal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/float_environment.h"

namespace lockstep::plan {
namespace {

// The holder with the largest remainder first.
std::vector<std::size_t> by_remainder(std::span<const double> parts) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t i) { return parts[i] - std::floor(parts[i]); });
  return order;
}

}  // namespace

std::vector<arithmetic::PackRange> deal_packs(arithmetic::PackRange packs, int holders) {
  check(holders > 0, "packs for {} holders", holders);
  std::vector<arithmetic::PackRange> shares;
  int first = packs.first;
  for (int holder = 0; holder < holders; ++holder) {
    const int size = packs.size() / holders + (holder < packs.size() % holders ? 1 : 0);
    shares.push_back({first, first + size});
    first += size;
  }
  return shares;
}

std::vector<arithmetic::PackRange> deal_packs(arithmetic::PackRange packs, int holders,
                                              std::span<const double> weights) {
  if (weights.empty()) return deal_packs(packs, holders);
  check(static_cast<int>(weights.size()) == holders, "{} weights for {} holders", weights.size(), holders);
  check(std::ranges::all_of(weights, [](double w) { return std::isfinite(w) && w > 0; }),
        "a weight that is not above 0");
  const FloatEnvironment environment;  // every thread must come to the same shares
  // Relative to the largest, so that no sum overflows.
  const double largest = std::ranges::max(weights);
  double sum = 0;
  for (const double weight : weights) sum += weight / largest;
  std::vector<double> parts;
  std::vector<int> sizes;
  for (const double weight : weights) {
    parts.push_back(packs.size() * (weight / largest) / sum);
    sizes.push_back(static_cast<int>(parts.back()));
  }
  int left = packs.size() - std::accumulate(sizes.begin(), sizes.end(), 0);
  check(left >= 0 && left <= holders, "{} packs are left of {}", left, packs.size());
  for (const std::size_t holder : by_remainder(parts)) {
    if (left-- <= 0) break;
    ++sizes[holder];
  }
  std::vector<arithmetic::PackRange> shares;
  int first = packs.first;
  for (const int size : sizes) {
    shares.push_back({first, first + size});
    first += size;
  }
  return shares;
}

}  // namespace lockstep::plan
