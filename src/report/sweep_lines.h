// Which lines the picture of a sweep has. Pure: no pixels, no text of SVG. A value that is not finite though
// its run did not diverge is left out.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "report/sweep_row.h"

namespace lockstep::report {

struct SweepPoint {
  double x = 0, y = 0;  // y is NaN where the run diverged
};

struct SweepLine {
  std::string label;
  std::vector<SweepPoint> points;  // by ascending x
};

// Test accuracy over learning rate: one line per batch size if its runs gave equal weights on every number of
// devices, and the label says so; else one per batch size and number of devices.
std::vector<SweepLine> accuracy_lines(std::span<const SweepRow> rows);

// Seconds per epoch over number of devices: one line per learning rate (and batch size, if there are
// several). Runs that diverged are left out.
std::vector<SweepLine> time_lines(std::span<const SweepRow> rows);

}  // namespace lockstep::report
