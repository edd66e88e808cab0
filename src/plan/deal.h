// Which device gets which packs of a minibatch. A holder is a device, or a thread of one.
#pragma once
#include <span>
#include <vector>

#include "arithmetic/tree.h"

namespace lockstep::plan {

// Consecutive shares of `packs`, one a holder, that differ by at most one pack, the larger ones first: with
// more holders than packs the last ones get nothing.
std::vector<arithmetic::PackRange> deal_packs(arithmetic::PackRange packs, int holders);

// Consecutive shares in proportion to the holders' weights, which are finite and above 0: each gets the whole
// packs of its part, the packs that are left go to the largest remainders, of equal ones to the first. Equal
// weights give what the counts above give; no weights at all mean equal ones.
std::vector<arithmetic::PackRange> deal_packs(arithmetic::PackRange packs, int holders,
                                              std::span<const double> weights);

}  // namespace lockstep::plan
