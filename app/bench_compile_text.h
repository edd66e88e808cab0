// What a bench of the compiler found, for people and for programs.
#pragma once
#include <span>
#include <string>

#include "measure/compile_bench.h"

namespace lockstep::app {

std::string bench_compile_table(std::span<const measure::CompileFigure> figures);

// One object: compile of {devices, layers, instructions, seconds, quartiles}.
std::string bench_compile_json(std::span<const measure::CompileFigure> figures);

}  // namespace lockstep::app
