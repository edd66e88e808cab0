// What sharing costs: one device of n threads against n independent runs of one thread, each bound to a core
// of its own. The independent runs share nothing but the machine, so they are the most n cores can do.
#pragma once
#include "measure/make_device.h"
#include "measure/pace.h"
#include "measure/statistics.h"

namespace lockstep::measure {

struct ScalingFigure {
  int threads = 2;
  Spread team, independent;  // steps a second; independent: of all runs together
  Spread ratio;              // team / independent, turn by turn
};

struct ScalingOptions {
  MakeDevice make_device;  // a device of one thread must run where its caller runs
  int threads = 2;
  int examples = 256;
  Pace pace{.seconds = 6, .window = 0.2};
};

// Throws Error(usage) if there are fewer cores than threads.
ScalingFigure measure_scaling(const ScalingOptions& options);

}  // namespace lockstep::measure
