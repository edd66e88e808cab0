// What a bench found, for people and for programs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "measure/kernel_bench.h"
#include "measure/scaling.h"
#include "measure/step_bench.h"
#include "model/model.h"

namespace lockstep::app {

struct BenchFigures {
  std::string target;  // name of the kernels: avx512
  std::string model = "lenet";
  model::Shape pictures{1, 28, 28};
  int examples = 256;  // of a minibatch
  arithmetic::ConvolutionRule convolution = model::Model{}.convolution;
  measure::PeakFigure core_peak = {};
  std::vector<measure::KernelFigure> kernels;  // on one core, in the order of the step
  std::vector<measure::StepFigure> steps;      // one setting, the last, after what it is seen beside
  std::vector<measure::StepFigure> settings;   // several settings, instead of steps
  std::optional<measure::ScalingFigure> scaling;
};

std::string bench_table(const BenchFigures& figures);

// One object: target, model, pictures, examples, convolution, fma_peak_gflops, fma_peak_median_gflops,
// fma_peak_lower_quartile_gflops, busy (then every share is null: see PeakFigure), kernels of {name,
// algorithm, gflops, share}, other of {name, microseconds} for what does not multiply, parts of {products,
// layers, rest} as fractions of the time of all kernels if they were measured, step of {devices, threads,
// gflops, share, seconds_per_epoch, quartiles, names where not all are CPU devices} and, if it was measured,
// scaling of {cores, settings of {name, steps_per_second, quartiles}, ratios of {of, to, ratio, quartiles}}.
// Several settings stand under settings instead of step, each with {ratio, ratio_quartiles}: how many times
// as fast as the first. Requires: steps or settings.
std::string bench_json(const BenchFigures& figures);

}  // namespace lockstep::app
