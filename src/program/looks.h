// How the first rank learns what all ranks saw of their replicas.
#pragma once
#include <vector>

#include "program/rank_builder.h"

namespace lockstep::program {

// Requires: the look is the last instruction of every rank's work.
void send_looks(std::vector<RankBuilder>& ranks);

}  // namespace lockstep::program
