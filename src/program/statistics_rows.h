// The tables of statistics that an instruction of a batch norm reads and writes, and how large their rows
// are.
#pragma once
#include <cstddef>
#include <vector>

#include "program/program.h"

namespace lockstep::program {

struct StatisticsRows {
  BufferId buffer = -1;
  std::size_t row = 0;  // elements of a pack or of a group
};

// Those that are inputs, then those that are outputs.
std::vector<StatisticsRows> statistics_rows(const Instruction& instruction);

}  // namespace lockstep::program
