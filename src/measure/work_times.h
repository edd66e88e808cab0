// What a device that works in the background does in a step, timed by the device itself: a kernel or copy of
// a GPU ends long after the host has given it to the GPU.
#pragma once
#include <string>
#include <vector>

#include "measure/pace.h"
#include "measure/statistics.h"
#include "model/zoo.h"
#include "run/crew.h"

namespace lockstep::measure {

struct WorkTime {
  std::string name;       // as in a trace: "forward of linear1: convolve_8"
  bool exchange = false;  // or computing
  Spread seconds;         // of a step: all work of this name together
};

struct WorkTimesOptions {
  model::Model model = model::lenet();
  int examples = 256;
  Pace pace{};           // a turn is a step; windows are not used
  int most_steps = 200;  // a trace keeps every span of every step
};

// Of the crew's first device, in the order in which a step first has it. Two steps run first, in which
// drivers compile.
std::vector<WorkTime> work_times(run::Crew& crew, const WorkTimesOptions& options);

}  // namespace lockstep::measure
