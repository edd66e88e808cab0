// What a bench of convolution layers found, for people and for programs.
#pragma once
#include <string>
#include <vector>

#include "measure/layer_bench.h"

namespace lockstep::app {

struct BenchLayersFigures {
  std::string target;  // name of the kernels: avx512
  measure::PeakFigure core_peak = {};
  std::vector<measure::LayerFigure> layers;
};

std::string bench_layers_table(const BenchLayersFigures& figures);

// One object: target, fma_peak_gflops, fma_peak_median_gflops, fma_peak_lower_quartile_gflops, busy, layers
// of {layer, pass, algorithm, packs, share, seconds and quartiles of a pack, transform_in, products and
// transform_back as fractions of the time, product_share, bound_by}. On a busy machine (see PeakFigure)
// share, product_share and bound_by are null.
std::string bench_layers_json(const BenchLayersFigures& figures);

}  // namespace lockstep::app
