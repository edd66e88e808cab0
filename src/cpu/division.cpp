#include "cpu/division.h"

#include <algorithm>

#include "plan/deal.h"

namespace lockstep::cpu {

Division divide(int packs, arithmetic::PackRange share, int threads) {
  Division division;
  division.packs = packs;
  division.share = share;
  division.ranges = plan::deal_packs(share, threads);
  std::vector<arithmetic::PackRange> held;
  for (int thread = 0; thread < threads; ++thread) {
    const arithmetic::PackRange range = division.ranges[static_cast<std::size_t>(thread)];
    division.schedules.push_back(arithmetic::join_schedule(packs, range));
    int level = 0;
    for (const arithmetic::PackRange& subtree : arithmetic::cover(packs, range)) {
      division.pieces.push_back({thread, level++});
      held.push_back(subtree);
    }
  }
  division.joins = arithmetic::join_pairs(packs, share, held);
  for (const arithmetic::PackRange& subtree : arithmetic::cover(packs, share)) {
    const auto first = std::ranges::find(held, subtree.first, &arithmetic::PackRange::first);
    division.subtrees.push_back(division.pieces[static_cast<std::size_t>(first - held.begin())]);
  }
  return division;
}

int deepest_stack(const Division& division) {
  int deepest = 1;
  for (const std::vector<arithmetic::JoinStep>& schedule : division.schedules) {
    for (const arithmetic::JoinStep& step : schedule)
      deepest = std::max(deepest, step.depth - step.joins + 1);
  }
  return deepest;
}

}  // namespace lockstep::cpu
