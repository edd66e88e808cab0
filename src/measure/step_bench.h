// The whole training step, on several numbers of threads.
#pragma once
#include <vector>

#include "measure/fma_peak.h"
#include "measure/make_device.h"
#include "measure/pace.h"
#include "measure/statistics.h"

namespace lockstep::measure {

struct StepFigure {
  int threads = 1;
  double flops = 0;  // of a step, only what reaches the loss
  Spread seconds;    // of a step

  double flops_per_second() const { return flops / seconds.median; }
  double share(double core_peak) const { return flops_per_second() / (core_peak * threads); }
  double seconds_per_epoch() const { return seconds.median * kStepsPerEpoch; }

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
