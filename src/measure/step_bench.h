// The whole training step, on several numbers of devices and threads.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/fma_peak.h"
#include "measure/make_crew.h"
#include "measure/pace.h"
#include "measure/turns.h"
#include "model/zoo.h"

namespace lockstep::measure {

struct StepSetting {
  int devices = 1, threads = 1;  // of each device

  // Not empty: these devices, which are not all CPU devices, and threads may be 0, as in make_named_crew.
  std::vector<std::string> names = {};
  std::vector<double> shares = {};  // of the packs; empty: see train/calibrate.h

  // How many of `usable` it can keep busy.
  int cores_of(int usable) const { return std::min(devices * threads, usable); }
};

struct StepFigure {
  StepSetting setting;
  int cores = 1;       // that it can keep busy; 0: other things than cores compute
  double flops = 0;    // of a step, only what reaches the loss
  Timing time;         // of a step
  int examples = 256;  // of a minibatch

  double flops_per_second() const { return flops / time.seconds.median; }
  // Of the best window of the whole run, and of the windows just before and after: a machine that changes its
  // frequency shows in the difference.
  double share(double core_peak) const { return flops_per_second() / (core_peak * cores); }
  double share_then() const { return flops / (time.peak_flops * cores); }
  double seconds_per_epoch() const { return time.seconds.median * steps_per_epoch(); }
  int steps_per_epoch() const { return (60'000 + examples - 1) / examples; }  // as Fashion-MNIST's
};

struct StepBenchOptions {
  MakeCrew make_crew;
  std::function<std::unique_ptr<run::Crew>(const std::vector<std::string>& names, int threads)>
      make_named_crew = nullptr;  // for settings with names
  model::Model model = model::lenet();
  std::vector<StepSetting> settings{{}};
  int examples = 256;
  Pace pace{};
};

// One figure for each setting, in their order. The settings take turns.
std::vector<StepFigure> bench_steps(const StepBenchOptions& options, FmaPeak& peak);

}  // namespace lockstep::measure
