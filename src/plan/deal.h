// Who gets which packs of a minibatch.
#pragma once
#include <vector>

#include "arithmetic/tree.h"

namespace lockstep::plan {

// Consecutive shares of `packs`, one a holder, that differ by at most one pack, the larger ones first: with
// more holders than packs the last ones get nothing.
std::vector<arithmetic::PackRange> deal_packs(arithmetic::PackRange packs, int holders);

// How many of `holders` get a pack.
int busy_holders(int packs, int holders);

}  // namespace lockstep::plan
