#include "bench_layers_command.h"

#include <CLI/CLI.hpp>

#include "bench_layers_text.h"
#include "bench_options.h"
#include "environment.h"
#include "output.h"

namespace lockstep::app {
namespace {

class BenchLayersCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser =
        app.add_subcommand("layers", "Measure convolution layers on one core, fast beside direct");
    add_seconds(*parser, seconds_, "each pass of each layer");
    add_json(*parser, json_);
    return parser;
  }

  int run() override {
    const cpu::Kernels& kernels = cpu::choose_kernels(environment_variable("LOCKSTEP_TARGET"));
    measure::FmaPeak peak(kernels);
    measure::LayerBenchOptions options{.kernels = kernels};
    options.pace.seconds = seconds_;
    BenchLayersFigures figures;
    figures.target = kernels.name;
    figures.layers = measure::bench_layers(options, peak);
    figures.core_peak = peak.figure();
    print_result(json_ ? bench_layers_json(figures) : bench_layers_table(figures));
    return 0;
  }

 private:
  double seconds_ = 1;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_layers_command() { return std::make_unique<BenchLayersCommand>(); }

}  // namespace lockstep::app
