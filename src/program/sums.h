// Do the programs of all ranks come to the law's numbers? They are run on terms (program/simulation.h), once:
// program/order.h proves that no other interleaving comes to anything else. Every set of data parallelism is
// held against this when it is made.
#pragma once
#include <span>

#include "program/program.h"

namespace lockstep::program {

// By rank, of one step. Throws Error(ours) that names rank and buffer unless
//   - every list comes to its end;
//   - each sum over the minibatch is the pack tree, wherever it is checked or updates, and the loss is on
//     every rank;
//   - after a training step each element of each parameter was updated by it once, on every rank;
//   - each update was told the verdict of checks that cover all sums;
//   - packs were computed with the statistics of their own group, each joined by the group's tree;
//   - the counts of all ranks are in every rank's tally once, and every rank's look is with the first rank.
// Replays and examinations have no sums that anything depends on.
void check_sums(std::span<const Program> programs);

}  // namespace lockstep::program
