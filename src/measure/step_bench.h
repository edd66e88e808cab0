// The whole training step, on several numbers of threads.
#pragma once
#include <vector>

#include "measure/fma_peak.h"
#include "measure/make_device.h"
#include "measure/pace.h"
#include "measure/turns.h"

namespace lockstep::measure {

struct StepFigure {
  int threads = 1;
  double flops = 0;  // of a step, only what reaches the loss
  Timing time;       // of a step

  double flops_per_second() const { return flops / time.seconds.median; }
  // Of the best window of the whole run, and of the windows just before and after: a machine that changes its
  // frequency shows in the difference.
  double share(double core_peak) const { return flops_per_second() / (core_peak * threads); }
  double share_then() const { return flops / (time.peak_flops * threads); }
  double seconds_per_epoch() const { return time.seconds.median * kStepsPerEpoch; }

  static constexpr int kStepsPerEpoch = 235;  // 60,000 examples by 256
};

struct StepBenchOptions {
  MakeDevice make_device;
  std::vector<int> threads{1};
  int examples = 256;
  Pace pace{};
};

// One figure for each number of threads, in their order. The settings take turns.
std::vector<StepFigure> bench_steps(const StepBenchOptions& options, FmaPeak& peak);

}  // namespace lockstep::measure
