#include "bench_law_command.h"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench_crew.h"
#include "bench_law_text.h"
#include "environment.h"
#include "lists.h"
#include "numbers.h"
#include "output.h"

namespace lockstep::app {
namespace {

constexpr WholeRange kDevices{2, 16};

class BenchLawCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser =
        app.add_subcommand("law", "Measure what the fixed order of additions costs a training step");
    parser
        ->add_option_function<std::string>(
            "--devices",
            [this](const std::string& text) {
              devices_ = list_of(
                  text, [](std::string_view part) { return whole_number("--devices", part, kDevices); });
            },
            "Numbers of devices of one thread (default 2,3)")
        ->type_name("LIST");
    parser
        ->add_option_function<std::string>(
            "--seconds", [this](const std::string& text) { seconds_ = positive_number("--seconds", text); },
            "How long to measure each number of devices (default 10)")
        ->type_name("S");
    parser->add_flag("--json", json_, "Print one JSON object instead of a table");
    return parser;
  }

  int run() override {
    const device::cpu::Kernels& kernels =
        device::cpu::choose_kernels(environment_variable("LOCKSTEP_TARGET"));
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
