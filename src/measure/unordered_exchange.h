// Not lockstep: the same exchange without the law's order of additions, to measure what that order costs.
//
// Every rank adds its own subtrees to one sum first and sends that; owners add the sums as ranks stand in
// the list. The first round then moves one sum a rank whatever the number of ranks is, and the bits
// depend on that number. Nothing that trains uses this.
#pragma once
#include <vector>

#include "program/program.h"

namespace lockstep::measure {

// Programs of data parallelism, by rank, without the order: a rank that holds several subtrees first adds
// them, into the first of them. Requires: no sharded optimizer.
std::vector<program::Program> without_order(std::vector<program::Program> programs);

}  // namespace lockstep::measure
