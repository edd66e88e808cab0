// Each instruction of LeNet's training step by itself, on one core.
#pragma once
#include <string>
#include <vector>

#include "measure/fma_peak.h"
#include "measure/make_device.h"
#include "measure/pace.h"
#include "measure/statistics.h"

namespace lockstep::measure {

struct KernelFigure {
  std::string name;  // conv2 input gradient
  double flops = 0;  // of a minibatch; 0: does not multiply
  Spread seconds;    // of a minibatch

  double flops_per_second() const { return flops / seconds.median; }
  double share(double core_peak) const { return flops_per_second() / core_peak; }
};

struct KernelBenchOptions {
  MakeDevice make_device;
  int examples = 256;
  Pace pace{.seconds = 5, .window = 2e-3};
};

// In the order of the step: what prepares the weights, the instructions over packs, then mean and update.
std::vector<KernelFigure> bench_kernels(const KernelBenchOptions& options, FmaPeak& peak);

}  // namespace lockstep::measure
