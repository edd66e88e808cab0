// A program as text that a person can read.
#pragma once
#include <string>

#include "program/exchange/exchange.h"
#include "program/program.h"

namespace lockstep::program {

std::string to_text(const Program& program);

// A device's list, whose sums are the program's.
std::string to_text(const exchange::List& list, const Program& program);

// One instruction: "weight gradient of conv2", "join 2 partial sums of linear1.weight[0, 51200)".
std::string to_text(const Instruction& instruction);
std::string to_text(const exchange::Instruction& instruction, const Program& program);

}  // namespace lockstep::program
