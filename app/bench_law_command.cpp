#include "bench_law_command.h"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench_crew.h"
#include "bench_law_text.h"
#include "bench_options.h"
#include "environment.h"
#include "output.h"

namespace lockstep::app {
namespace {

constexpr WholeRange kLawDevices{2, 16};

class BenchLawCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser =
        app.add_subcommand("law", "Measure what the fixed order of additions costs a training step");
    add_device_counts(*parser, devices_, kLawDevices);
    add_seconds(*parser, seconds_, "each number of devices");
    add_json(*parser, json_);
    return parser;
  }

  int run() override {
    const cpu::Kernels& kernels = cpu::choose_kernels(environment_variable("LOCKSTEP_TARGET"));
    std::vector<measure::LawFigure> figures;
    for (const int devices : devices_) {
      measure::LawBenchOptions options{.make_crew = make_bench_crew, .kernels = kernels};
      options.devices = devices;
      options.pace.seconds = seconds_;
      figures.push_back(measure::bench_law(options));
    }
    print_result(json_ ? bench_law_json(figures) : bench_law_table(figures));
    return 0;
  }

 private:
  std::vector<int> devices_{2, 3};
  double seconds_ = 10;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_law_command() { return std::make_unique<BenchLawCommand>(); }

}  // namespace lockstep::app
