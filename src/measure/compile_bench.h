// How long compiling takes: all lists that a training of a residual network runs, of all ranks, made and
// checked. No device is needed.
#pragma once
#include "measure/pace.h"
#include "measure/statistics.h"

namespace lockstep::measure {

struct CompileFigure {
  int devices = 1;
  int layers = 0;                // with weights
  std::size_t instructions = 0;  // of all lists
  Spread seconds;                // of all lists, once
};

struct CompileBenchOptions {
  int devices = 16;
  int blocks = 9;      // of the network: 20 layers with weights
  int examples = 256;  // of a minibatch
  Pace pace{};
};

// The lists of a step, of the smaller step at an epoch's end, of an evaluation and of an examination.
CompileFigure bench_compile(const CompileBenchOptions& options);

}  // namespace lockstep::measure
