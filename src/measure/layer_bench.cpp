#include "measure/layer_bench.h"

#include <array>
#include <utility>

#include "cpu/winograd_layout.h"
#include "measure/instruction_work.h"

namespace lockstep::measure {
namespace {

using arithmetic::ConvolutionRule, arithmetic::kPack;
using cpu::Laps, cpu::TileGrid;

struct NamedPass {
  Pass pass;
  std::string_view name;
};
constexpr std::array kPasses{NamedPass{Pass::forward, "forward"},
                             NamedPass{Pass::input_gradient, "input gradient"},
                             NamedPass{Pass::weight_gradient, "weight gradient"}};

// Of one example. A tile that reaches over the edge is multiplied whole.
double product_multiply_adds(const program::Convolution& c) {
  if (!c.algorithms.winograd()) return program::multiply_adds(c);
  const TileGrid grid(c);
  return static_cast<double>(grid.count()) * grid.frequencies() * c.input.channels * c.output.channels;
}

// Medians over the runs: an interrupted one lasts long, and all of it falls on one phase.
LayerFigure::Phases phases_of(const std::vector<Laps>& runs) {
  const auto fraction = [&](double Laps::*phase) {
    std::vector<double> fractions;
    fractions.reserve(runs.size());
    for (const Laps& run : runs) fractions.push_back(run.*phase / (run.into + run.products + run.back));
    return quantile(std::move(fractions), 0.5);
  };
  const double into = fraction(&Laps::into), back = fraction(&Laps::back);
  return {into, 1 - into - back, back};
}

LayerFigure figure_of(const LayerPass& pass, const Timing& time, const std::vector<Laps>& laps) {
  const double examples = static_cast<double>(pass.packs) * kPack;
  LayerFigure figure;
  figure.algorithm = algorithm_name(pass.convolution);
  figure.packs = pass.packs;
  figure.flops = 2 * examples * program::multiply_adds(pass.convolution);
  figure.product_flops = 2 * examples * product_multiply_adds(pass.convolution);
  figure.time = time;
  if (pass.convolution.algorithms.winograd()) figure.phases = phases_of(laps);
  return figure;
}

}  // namespace

std::vector<LayerShape> usual_layers() {
  return {{"LeNet's conv2, 20 to 50 on 12x12, 5x5", 20, 50, 12, 5, 0},
          {"64 to 64 on 28x28, 3x3", 64, 64, 28, 3, 1},
          {"128 to 128 on 14x14, 3x3", 128, 128, 14, 3, 1},
          {"256 to 256 on 7x7, 3x3", 256, 256, 7, 3, 1},
          {"512 to 512 on 4x4, 3x3", 512, 512, 4, 3, 1}};
}

std::vector<LayerFigure> bench_layers(const LayerBenchOptions& options, FmaPeak& peak) {
  std::vector<LayerFigure> figures;
  for (const LayerShape& layer : options.layers) {
    for (const NamedPass& named : kPasses) {
      const auto pass_by = [&](ConvolutionRule rule) {
        return make_layer_pass(layer, rule, named.pass, options.kernels);
      };
      const std::array passes{pass_by(ConvolutionRule::fast), pass_by(ConvolutionRule::direct)};
      std::array<std::vector<Laps>, passes.size()> laps;
      std::array<std::function<void()>, passes.size()> runs;
      for (std::size_t i = 0; i < passes.size(); ++i)
        runs[i] = [&, i] { passes[i].run(&laps[i].emplace_back()); };
      const std::vector<Timing> times = take_turns(options.pace, peak, runs);
      for (std::size_t i = 0; i < passes.size(); ++i) {
        LayerFigure& figure = figures.emplace_back(figure_of(passes[i], times[i], laps[i]));
        figure.layer = layer.name;
        figure.pass = named.name;
      }
    }
  }
  return figures;
}

}  // namespace lockstep::measure
