#include "bench_compile_command.h"

#include <vector>

#include <CLI/CLI.hpp>

#include "bench_compile_text.h"
#include "bench_options.h"
#include "output.h"

namespace lockstep::app {
namespace {

constexpr WholeRange kCompileDevices{1, 128};

class BenchCompileCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser =
        app.add_subcommand("compile", "Measure how long compiling a network for many devices takes");
    add_device_counts(*parser, devices_, kCompileDevices);
    add_seconds(*parser, seconds_, "each number of devices");
    add_json(*parser, json_);
    return parser;
  }

  int run() override {
    std::vector<measure::CompileFigure> figures;
    figures.reserve(devices_.size());
    for (const int devices : devices_) {
      measure::CompileBenchOptions options{.devices = devices};
      options.pace.seconds = seconds_;
      figures.push_back(measure::bench_compile(options));
    }
    print_result(json_ ? bench_compile_json(figures) : bench_compile_table(figures));
    return 0;
  }

 private:
  std::vector<int> devices_{1, 4, 16};
  double seconds_ = 2;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_compile_command() { return std::make_unique<BenchCompileCommand>(); }

}  // namespace lockstep::app
