// sweep.svg: what learning rate and number of devices do, one self-contained picture of two plots. Left, test
// accuracy over learning rate; right, seconds per epoch over devices. Equal rows give equal bytes.
#pragma once
#include <span>
#include <string>

#include "report/sweep_row.h"

namespace lockstep::report {

// Runs that diverged are crosses at the foot of the left plot.
std::string sweep_svg(std::span<const SweepRow> rows);

}  // namespace lockstep::report
