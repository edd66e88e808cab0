// Every rank hashes a part of its replica of the parameters, and the first rank compares the hashes
// (run/replicas.h).
#pragma once
#include <span>
#include <vector>

#include "program/rank_builder.h"

namespace lockstep::program {

// As the last work of a step, when these events of each rank have happened; they are taken out.
void add_looks(std::vector<RankBuilder>& ranks, std::vector<std::vector<EventId>>& waits);

// Programs that hash all parameters of every rank for the first rank to compare, in the memory of `programs`,
// which are a training's.
std::vector<Program> examination_of(std::span<const Program> programs);

}  // namespace lockstep::program
