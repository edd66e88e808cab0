#include "bench_command.h"

#include <algorithm>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "bench_text.h"
#include "cpu.h"
#include "device/cpu/cpu_device.h"
#include "device/cpu/kernels.h"
#include "environment.h"
#include "numbers.h"
#include "output.h"

namespace lockstep::app {
namespace {

class BenchCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser =
        app.add_subcommand("bench", "Measure a training step of LeNet, and each of its kernels");
    parser
        ->add_option_function<std::string>(
            "--threads",
            [this](const std::string& text) { threads_ = whole_number("--threads", text, kThreads); },
            "Compute threads of the step, 1 to 1,024 (default: every core this process may use)")
        ->type_name("N");
    parser
        ->add_option_function<std::string>(
            "--seconds", [this](const std::string& text) { seconds_ = positive_number("--seconds", text); },
            "How long to measure each part (default 3)")
        ->type_name("S");
    parser->add_flag("--step-only", step_only_, "The step on --threads threads and nothing else");
    parser->add_flag("--scaling", scaling_, "Also one device of --threads against as many independent runs");
    parser->add_flag("--json", json_, "Print one JSON object instead of tables");
    return parser;
  }

  int run() override {
    const device::cpu::Kernels& kernels =
        device::cpu::choose_kernels(environment_variable("LOCKSTEP_TARGET"));
    const int threads = threads_.value_or(std::min(device::cpu::usable_cores(), kThreads.most));
    measure::FmaPeak peak(kernels);
    BenchFigures figures;
    figures.target = kernels.name;
    if (scaling_) {
      measure::ScalingOptions scaling{.make_device = make_cpu, .threads = threads};
      scaling.pace.seconds = seconds_;
      figures.scaling = measure::measure_scaling(scaling);
    }
    if (!step_only_) {
      measure::KernelBenchOptions options{.make_device = make_cpu};
      options.pace.seconds = seconds_;
      figures.kernels = measure::bench_kernels(options, peak);
    }
    measure::StepBenchOptions options{.make_device = make_cpu};
    options.threads = step_only_ || threads == 1 ? std::vector{threads} : std::vector{1, threads};
    options.pace.seconds = seconds_;
    figures.steps = measure::bench_steps(options, peak);
    figures.core_peak = peak.flops_per_second();
    figures.core_peak_median = peak.median_flops_per_second();
    print_result(json_ ? bench_json(figures) : bench_table(figures));
    return 0;
  }

 private:
  std::optional<int> threads_;
  double seconds_ = 3;
  bool step_only_ = false, scaling_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace lockstep::app
