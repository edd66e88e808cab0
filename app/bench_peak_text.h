// What the FMA peak of a bench was, and whether shares of it mean anything.
#pragma once
#include <string>

#include "measure/fma_peak.h"

namespace lockstep::app {

// One line; on a busy machine a second one, which says so and what that means for the figures below.
std::string peak_lines(const measure::PeakFigure& peak);

}  // namespace lockstep::app
