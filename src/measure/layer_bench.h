// Convolution layers by themselves on one core: each pass fast and direct, in turns.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "measure/fma_peak.h"
#include "measure/layer_pass.h"
#include "measure/pace.h"
#include "measure/turns.h"

namespace lockstep::measure {

struct LayerFigure {
  // Fractions of the time. Direct is products alone.
  struct Phases {
    double into = 0, products = 1, back = 0;
  };

  std::string layer, pass, algorithm;
  int packs = 1;             // of one run
  double flops = 0;          // of a run by the direct algorithm, whichever was measured
  double product_flops = 0;  // of a run's products by the algorithm that was measured
  Timing time;               // of a run
  Phases phases;

  double seconds_a_pack() const { return time.seconds.median / packs; }

  // Of the FMA peak just before and after. What a fast algorithm saves can lift it above 1.
  double share() const { return flops / time.peak_flops; }

  // Of the products in their own part of the time.
  double product_share() const { return product_flops / (time.peak_flops * phases.products); }

  // "multiply-adds": at FMA peak the products alone take more than 3/4 of the time. "cache": less, so
  // transforms and products wait for numbers.
  std::string_view limit() const {
    return product_flops > 0.75 * time.peak_flops ? "multiply-adds" : "cache";
  }
};

// LeNet's second convolution, and what deep networks are made of.
std::vector<LayerShape> usual_layers();

struct LayerBenchOptions {
  const cpu::Kernels& kernels;
  std::vector<LayerShape> layers = usual_layers();
  Pace pace{.seconds = 1, .window = 2e-3};  // of a pass, both algorithms together
};

// By layer, by pass, the fast algorithm before the direct one.
std::vector<LayerFigure> bench_layers(const LayerBenchOptions& options, FmaPeak& peak);

}  // namespace lockstep::measure
