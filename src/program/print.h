// A program as text that a person can read: exactly what a rank runs.
#pragma once
#include <string>

#include "program/program.h"

namespace lockstep::program {

std::string to_text(const Program& program);

// One instruction: "weight gradient of conv2", "mean of 2 into linear1.weight.gradient[0, 51200)".
std::string to_text(const Instruction& instruction);
std::string to_text(const ExchangeInstruction& instruction, const Program& program);

}  // namespace lockstep::program
