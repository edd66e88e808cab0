// Do the programs of all ranks fit together? No rank can wait for ever, and whatever order and events leave
// open cannot change a number.
//
// The programs of a step are a graph. A work instruction is a node, so is the start of a segment; an
// instruction of an exchange is two: it starts, it is done. Edges: the order of each list; from a signal to
// what waits for it; from the start of a send to the arrival at its receiver; from the start of a receive to
// the moment at which the sender's numbers have been taken. The graph must have no cycle, and of two accesses
// to the same numbers, one of them a write, one must end before the other starts, by a path. Paths are found
// by vector clocks: each list is a clock of its own. Checked on broken programs in order_test.cpp; every set
// that a Runner gets goes through it.
#pragma once
#include <span>

#include "program/program.h"

namespace lockstep::program {

// By rank, of one step. Throws Error(ours) that names rank and instruction.
void check_order(std::span<const Program> programs);

}  // namespace lockstep::program
