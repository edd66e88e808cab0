// A program as text that a person can read.
#pragma once
#include <string>

#include "program/program.h"

namespace lockstep::program {

std::string to_text(const Program& program);

}  // namespace lockstep::program
