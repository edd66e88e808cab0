// Not lockstep: the same exchange without the law's order of additions, to measure what that order costs.
//
// Every device adds its own subtrees to one sum first and sends that; owners add the sums as devices stand in
// the list. The first round then moves one sum a device whatever the number of devices is, and the bits
// depend on that number. Nothing that trains uses this.
#pragma once
#include <span>
#include <vector>

#include "program/exchange/exchange.h"

namespace lockstep::measure {

// The lists of exchange::emit without the order, for the devices of unordered_crew.h: one that holds several
// subtrees has joins of its own, which only add, into the first of them. Requires: no sharded optimizer.
std::vector<program::exchange::List> emit_unordered(const program::exchange::Setting& setting,
                                                    std::span<const program::exchange::Shard> shards);

// Is it a device's join of nothing but its own subtrees? The result stays in the first; nothing is divided.
bool only_adds(const program::exchange::Join& join);

}  // namespace lockstep::measure
