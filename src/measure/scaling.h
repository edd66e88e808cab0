// What sharing costs, and what devices cost. The most that n cores can do is n independent runs of one
// thread, each bound to a core of its own: they share only the machine. Against them stand one device
// of n threads, n devices of one thread, and far more devices than there are cores.
#pragma once
#include <string>
#include <vector>

#include "measure/make_crew.h"
#include "measure/pace.h"
#include "measure/statistics.h"
#include "model/zoo.h"

namespace lockstep::measure {

struct ScalingFigure {
  struct Setting {
    std::string name;
    Spread steps_per_second;  // of all runs together
  };
  struct Ratio {
    std::string of, to;  // names of settings
    Spread spread;       // of steps a second, turn by turn
  };
  int cores = 2;
  std::vector<Setting> settings;
  std::vector<Ratio> ratios;
};

struct ScalingOptions {
  MakeCrew make_crew;
  model::Model model = model::lenet();
  int cores = 2;
  int many_devices = 16;
  int examples = 256;
  Pace pace{.seconds = 6, .window = 0.2};
};

// Throws Error(usage) if there are fewer cores.
ScalingFigure measure_scaling(const ScalingOptions& options);

}  // namespace lockstep::measure
