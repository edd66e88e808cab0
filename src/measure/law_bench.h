// What the law's order of additions costs: LeNet's training step with the best exchange, in turns with the
// same step where every device adds its subtrees to one sum before it sends them (unordered_exchange.h).
#pragma once
#include "cpu/kernels.h"
#include "measure/make_crew.h"
#include "measure/pace.h"
#include "measure/statistics.h"

namespace lockstep::measure {

struct LawFigure {
  int devices = 2;
  std::size_t bytes_by_law = 0, bytes_unordered = 0;  // copied by all devices in a step
  Spread by_law, unordered;                           // seconds of a step
  Spread ratio;                                       // by law / unordered, turn by turn
};

struct LawBenchOptions {
  MakeCrew make_crew;
  const cpu::Kernels& kernels;  // of the devices that it makes
  int devices = 2;              // of one thread each
  int examples = 256;
  Pace pace{};
};

LawFigure bench_law(const LawBenchOptions& options);

}  // namespace lockstep::measure
