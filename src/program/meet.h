// Statistics that meet between two segments over packs, as lists of all ranks. One rank that has packs of a
// group is its owner: the others send it the rows of their packs, it joins them and sends the group's row to
// the ranks that go on with it, then to the ranks that only keep it. A group whose packs lie on one rank
// needs no message before that rank goes on. Different groups, and different batch norms, have different
// owners.
#pragma once
#include <vector>

#include "program/rank_builder.h"

namespace lockstep::program {

// Gives the tables of every rank a row for each pack or group of the minibatch, and tells the instructions
// that work on groups which ones the rank has packs of. Requires: the packs of every rank are known.
void deal_tables(std::vector<RankBuilder>& ranks);

// Appends a meeting of the step to the exchange lists; `number`: which of them it is. `later`: by rank, gets
// the events of what arrives for the end of the step.
void add_meeting(const Meeting& meeting, std::size_t number, std::vector<RankBuilder>& ranks,
                 std::vector<std::vector<EventId>>& later);

}  // namespace lockstep::program
