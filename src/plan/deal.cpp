#include "plan/deal.h"

#include <algorithm>

#include "base/error.h"

namespace lockstep::plan {

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

int busy_holders(int packs, int holders) { return std::min(packs, holders); }

}  // namespace lockstep::plan
