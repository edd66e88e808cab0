// What a bench of the law found, for people and for programs.
#pragma once
#include <span>
#include <string>

#include "measure/law_bench.h"

namespace lockstep::app {

std::string bench_law_table(std::span<const measure::LawFigure> figures);

// One object: law of {devices, by_law and unordered of {seconds, quartiles, bytes}, ratio, quartiles}.
std::string bench_law_json(std::span<const measure::LawFigure> figures);

}  // namespace lockstep::app
