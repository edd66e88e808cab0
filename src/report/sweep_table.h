// A sweep for the terminal and for other programs. Rows stand as they are given; a run that diverged has no
// accuracy and no time.
#pragma once
#include <span>
#include <string>

#include "report/sweep_row.h"

namespace lockstep::report {

// Aligned; "diverged" in place of the accuracy, "best" behind the highest one.
std::string sweep_table(std::span<const SweepRow> rows);
std::string sweep_csv(std::span<const SweepRow> rows);   // no value: an empty field
std::string sweep_json(std::span<const SweepRow> rows);  // an array, one object a line; no value: null

}  // namespace lockstep::report
