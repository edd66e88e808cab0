// Which elements of its buffers an instruction of the work uses: parts of gradients and parameters, rows of
// statistics, else all.
#pragma once
#include <cstddef>

#include "program/program.h"

namespace lockstep::program {

// Of the operand-th input, or of the operand-th output. Statistics that packs make are the rows of the
// segment's packs.
Part part_read(const Program& program, const Instruction& instruction, std::size_t operand);
Part part_written(const Program& program, const Segment& segment, const Instruction& instruction,
                  std::size_t operand);

}  // namespace lockstep::program
