// What a bench of convolution layers found, for people and for programs.
#pragma once
#include <string>
#include <vector>

#include "measure/layer_bench.h"

namespace lockstep::app {

struct BenchLayersFigures {
  std::string target;                          // name of the kernels: avx512
  double core_peak = 0, core_peak_median = 0;  // operations a second: the best window, and half of them
  std::vector<measure::LayerFigure> layers;
};

std::string bench_layers_table(const BenchLayersFigures& figures);

// One object: target, fma_peak_gflops, fma_peak_median_gflops, layers of {layer, pass, algorithm, packs,
// share, seconds and quartiles of a pack, transform_in, products and transform_back as fractions of the time,
// product_share, bound_by}.
std::string bench_layers_json(const BenchLayersFigures& figures);

}  // namespace lockstep::app
