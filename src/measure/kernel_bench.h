// Each instruction of a model's training step by itself, on one core.
#pragma once
#include <string>
#include <vector>

#include "measure/fma_peak.h"
#include "measure/instruction_work.h"
#include "measure/make_crew.h"
#include "measure/pace.h"
#include "measure/turns.h"
#include "model/zoo.h"

namespace lockstep::measure {

struct KernelFigure {
  std::string name;       // conv2 input gradient
  std::string algorithm;  // 4x4 tiles; empty where nothing is multiplied
  double flops = 0;       // of a minibatch, by the direct algorithm; 0: does not multiply
  Timing time;            // of a minibatch
  WorkKind work = WorkKind::rest;

  double flops_per_second() const { return flops / time.seconds.median; }
  // Of the best window of the whole run, and of the windows just before and after: a machine that changes its
  // frequency shows in the difference.
  double share(double core_peak) const { return flops_per_second() / core_peak; }
  double share_then() const { return flops / (time.peak_flops); }
};

struct KernelBenchOptions {
  MakeCrew make_crew;
  model::Model model = model::lenet();
  int examples = 256;
  Pace pace{.seconds = 5, .window = 2e-3};
};

// In the order of the step: what prepares the weights, the instructions over packs, then exchange, check and
// update.
std::vector<KernelFigure> bench_kernels(const KernelBenchOptions& options, FmaPeak& peak);

}  // namespace lockstep::measure
