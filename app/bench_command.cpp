#include "bench_command.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "batch_norm_option.h"
#include "bench_compile_command.h"
#include "bench_crew.h"
#include "bench_exchange_command.h"
#include "bench_law_command.h"
#include "bench_layers_command.h"
#include "bench_options.h"
#include "bench_text.h"
#include "convolution_option.h"
#include "cpu/cores.h"
#include "cpu/kernels.h"
#include "device/device_list.h"
#include "devices.h"
#include "environment.h"
#include "lists.h"
#include "model/example_groups.h"
#include "model/zoo.h"
#include "numbers.h"
#include "output.h"
#include "shares.h"
#include "size_option.h"

namespace lockstep::app {
namespace {

class BenchCommand final : public Command {
 public:
  BenchCommand() {
    parts_.push_back({make_bench_layers_command(), nullptr});
    parts_.push_back({make_bench_exchange_command(), nullptr});
    parts_.push_back({make_bench_law_command(), nullptr});
    parts_.push_back({make_bench_compile_command(), nullptr});
  }

  CLI::App* add_to(CLI::App& app) override {
    parser_ = app.add_subcommand("bench", "Measure a training step, and each of its kernels");
    add_step_options();
    parser_->add_flag("--step-only", step_only_, "The step on these devices and nothing else");
    parser_->add_flag(
        "--scaling", scaling_,
        "Also all cores as threads, as devices and as many more devices, against independent runs");
    add_json(*parser_, json_);
    parser_->require_subcommand(0, 1);
    for (Part& part : parts_) {
      part.parser = part.command->add_to(*parser_);
      part.parser->group("Other measurements");
      part.parser->set_help_flag("-h,--help", "Print this help and exit");
    }
    return parser_;
  }

  int run() override {
    for (const Part& part : parts_) {
      if (!part.parser->parsed()) continue;
      expect_no_own_options(part.parser->get_name());
      return part.command->run();
    }
    const std::vector<measure::StepSetting> asked = settings();
    choose_model(asked.front().devices);
    const cpu::Kernels& kernels = cpu::choose_kernels(environment_variable("LOCKSTEP_TARGET"));
    measure::FmaPeak peak(kernels);
    BenchFigures figures;
    figures.target = kernels.name;
    figures.model = model_.name;
    figures.pictures = model_.input;
    figures.examples = batch_;
    figures.convolution = model_.convolution;
    // First, so that devices that are not to be had are refused before anything is measured.
    (asked.size() == 1 ? figures.steps : figures.settings) = steps(asked, peak);
    if (scaling_) figures.scaling = scaling();
    if (!step_only_) {
      measure::KernelBenchOptions options{.make_crew = make_bench_crew, .model = model_, .examples = batch_};
      options.pace.seconds = seconds_;
      figures.kernels = measure::bench_kernels(options, peak);
    }
    figures.core_peak = peak.figure();
    print_result(json_ ? bench_json(figures) : bench_table(figures));
    return 0;
  }

 private:
  struct Part {
    std::unique_ptr<Command> command;
    CLI::App* parser;
  };

  void add_step_options() {
    parser_->add_option("--model", model_name_, "Model of the step: " + model::zoo_text())->type_name("NAME");
    add_size(*parser_, size_);
    parser_
        ->add_option_function<std::string>(
            "--batch",
            [this](const std::string& text) {
              batch_ = whole_number("--batch", text, {1, 60'000});
            },
            "Examples of a minibatch, 1 to 60,000 (default 256)")
        ->type_name("N");
    parser_
        ->add_option_function<std::string>(
            "--devices", [this](const std::string& text) { devices_ = text; },
            "Devices of the step: 2, 3xcpu, gpu, cpu:0+opencl:0 or auto (default: one CPU device); several "
            "settings, separated by commas, are measured in turns and compared with the first")
        ->type_name("LIST");
    add_shares(*parser_, shares_);
    crews_.add_probe(*parser_);
    parser_
        ->add_option_function<std::string>(
            "--threads",
            [this](const std::string& text) {
              threads_ = list_of(
                  text, [](std::string_view part) { return whole_number("--threads", part, kThreads); });
            },
            "Compute threads of each device, 1 to 1,024, several separated by commas (default: the cores, "
            "divided among the devices)")
        ->type_name("LIST");
    add_seconds(*parser_, seconds_, "each part");
    add_convolution(*parser_, convolution_);
    add_batch_norm(*parser_, batch_norm_);
  }

  void expect_no_own_options(const std::string& part) const {
    for (const CLI::Option* option : parser_->get_options()) {
      if (option->count() == 0) continue;
      throw Error(Fault::usage, "{} stands before '{}'; options of lockstep bench {} come after it",
                  option->get_name(), part, part);
    }
  }

  // devices: of the first setting, for --batch-norm device.
  void choose_model(int devices) {
    model_ = sized_model(model_name_, size_);
    model_.convolution = convolution_.value_or(model_.convolution);
    if (!batch_norm_) return;
    const DividedBatch batch{batch_, static_cast<std::size_t>(devices)};
    model::set_ghost(model_, ghost_of(*batch_norm_, model_, batch));
  }

  measure::ScalingFigure scaling() const {
    measure::ScalingOptions options{.make_crew = make_bench_crew, .model = model_};
    options.examples = batch_;
    options.cores = cpu::usable_cores();
    options.pace.seconds = seconds_;
    return measure::measure_scaling(options);
  }

  std::vector<measure::StepSetting> settings() {
    std::vector<measure::StepSetting> settings;
    for (const std::vector<std::string>& names : crews_.settings("--devices", devices_)) {
      for (const int threads : threads_) settings.push_back(setting(names, threads));
    }
    if (shares_ && std::ranges::all_of(settings, [](const auto& setting) { return setting.shares.empty(); }))
      expect_share_a_device("--shares", *shares_, static_cast<std::size_t>(settings.front().devices));
    return settings;
  }

  // Shares are for all settings with as many devices.
  measure::StepSetting setting(const std::vector<std::string>& names, int threads) const {
    measure::StepSetting setting{static_cast<int>(names.size()),
                                 threads == 0 ? default_threads(names) : threads};
    if (!device::all_cpu(names)) setting.names = names;
    if (shares_ && shares_->size() == names.size()) setting.shares = *shares_;
    return setting;
  }

  // A single setting is seen beside one CPU device of one thread.
  std::vector<measure::StepFigure> steps(std::span<const measure::StepSetting> asked,
                                         measure::FmaPeak& peak) {
    measure::StepBenchOptions options{.make_crew = make_bench_crew, .model = model_};
    options.examples = batch_;
    options.make_named_crew = [this](const std::vector<std::string>& names, int threads) {
      return crews_.make_crew({.devices = names, .threads = threads});
    };
    options.settings.clear();
    const measure::StepSetting& first = asked.front();
    if (!step_only_ && asked.size() == 1 && (!first.names.empty() || first.devices * first.threads > 1))
      options.settings.push_back({1, 1});
    options.settings.insert(options.settings.end(), asked.begin(), asked.end());
    options.pace.seconds = seconds_;
    return measure::bench_steps(options, peak);
  }

  CLI::App* parser_ = nullptr;
  std::vector<Part> parts_;
  std::string model_name_ = "lenet", devices_ = "cpu:0";
  std::optional<model::Shape> size_;
  int batch_ = measure::StepBenchOptions{}.examples;
  model::Model model_;
  Devices crews_;
  std::optional<std::vector<double>> shares_;
  std::vector<int> threads_ = {0};  // 0: not given
  std::optional<arithmetic::ConvolutionRule> convolution_;
  std::optional<BatchNormForm> batch_norm_;
  double seconds_ = 3;
  bool step_only_ = false, scaling_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace lockstep::app
