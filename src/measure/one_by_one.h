// Instructions of a program that can be run one at a time.
#pragma once
#include <vector>

#include "program/program.h"

namespace lockstep::measure {

// A program for every instruction of a segment over packs, which stands alone in it. Once the program itself
// has run, each of these finds in the buffers what it finds in a step.
std::vector<program::Program> one_by_one(const program::Program& program, std::size_t segment);

}  // namespace lockstep::measure
