#include "eval_command.h"

#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "arithmetic/convolution_rule.h"
#include "base/error.h"
#include "base/nearest.h"
#include "convolution_option.h"
#include "data/class_names.h"
#include "devices.h"
#include "evaluation_text.h"
#include "model/zoo.h"
#include "output.h"
#include "runs/run_config_file.h"
#include "runs/weights_file.h"
#include "shares.h"
#include "train/calibrate.h"
#include "train/evaluate.h"
#include "train/pictures.h"
#include "train/stored_weights.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

// Empty if the file says nothing about it.
std::string said_in(const store::TensorFileReader& file, const std::string& key) {
  const auto entry = file.metadata().find(key);
  return entry == file.metadata().end() ? "" : entry->second;
}

class EvalCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser = app.add_subcommand("eval", "Evaluate saved weights on the test set");
    parser->add_option("RUN", run_or_file_, "A run directory, or a safetensors file")
        ->required()
        ->type_name("");
    parser
        ->add_option_function<std::string>(
            "--data", [this](const std::string& text) { data_ = given_path("--data", text); },
            "Where the IDX files are (default: the run's, else Debian's Fashion-MNIST)")
        ->type_name("DIR");
    parser->add_option("--model", model_, "Whose weights they are, if the file does not say (default lenet)")
        ->type_name("NAME");
    add_convolution(*parser, convolution_);
    parser->add_flag("--json", json_, "Print one JSON object instead of a table");
    parser
        ->add_option_function<std::string>(
            "--threads",
            [this](const std::string& text) { threads_ = whole_number("--threads", text, kThreads); },
            "Compute threads of each device, 1 to 1,024 (default: the cores, divided among the devices)")
        ->type_name("N");
    parser
        ->add_option("--devices", devices_,
                     "2, 3xcpu, 2xgpu, cpu:0+opencl:0 or auto (default: one CPU device of all cores)")
        ->type_name("LIST");
    add_shares(*parser, shares_);
    crews_.add_probe(*parser);
    return parser;
  }

  int run() override {
    const fs::path path = runs::file_of(run_or_file_, runs::kWeightsFile);
    store::TensorFileReader file(path, store::Counters::skipped);
    const std::optional<store::RunConfig> config = runs::config_of_run(run_or_file_);
    const fs::path directory = data_directory(config);
    const std::string name = model_name(config, file);
    model::zoo_model(name);  // refuses an unknown name
    const data::Split data = data::load_mnist_like(directory);
    model::Model model = model::zoo_model(name, train::pictures_of(data.test));
    model.convolution = convolution(config, file).value_or(model.convolution);
    const auto [weights, vouched] = train::read_weights(file, model);
    if (!vouched) std::cerr << runs::unvouched_text(path) << '\n';
    const std::vector<std::string> devices = crews_.list("--devices", devices_);
    train::Machine machine{.shares = shares_.value_or(std::vector<double>{})};
    expect_share_a_device("--shares", machine.shares, devices.size());
    const std::unique_ptr<run::Crew> crew =
        crews_.make_crew({.devices = devices, .threads = threads_.value_or(0)});
    const std::vector<std::string> names = data::class_names(data, directory);
    machine.shares = train::shares_for(*crew, {.model = model}, machine, data.test);
    const train::Evaluation evaluation =
        train::Evaluator(*crew, model, data.test, {.shares = machine.shares}).evaluate(weights);
    print_result(json_ ? evaluation_json(evaluation, names, to_hex(train::hash_of(weights)))
                       : evaluation_table(evaluation, names));
    return 0;
  }

 private:
  std::string model_name(const std::optional<store::RunConfig>& config,
                         const store::TensorFileReader& file) const {
    std::string recorded = config ? config->job.model : said_in(file, "model");
    if (recorded.empty()) return model_.value_or("lenet");
    if (model_ && *model_ != recorded)
      throw Error(Fault::usage, "--model: {} holds weights of model '{}', found '{}'", run_or_file_, recorded,
                  *model_);
    return recorded;
  }

  // The rule by which the weights were trained, if the run's config or the file says it.
  std::optional<arithmetic::ConvolutionRule> recorded_convolution(
      const std::optional<store::RunConfig>& config, const store::TensorFileReader& file) const {
    if (config) return config->job.convolution;
    const std::string name = said_in(file, "convolution");
    const std::optional<arithmetic::ConvolutionRule> rule = arithmetic::convolution_rule_named(name);
    if (!name.empty() && !rule)
      throw Error(Fault::data, "{}: convolution: there is no '{}'{}", run_or_file_, name,
                  suggestion(name, arithmetic::convolution_rule_names()));
    return rule;
  }

  // The recorded rule, else the one that the user asked for, if any.
  std::optional<arithmetic::ConvolutionRule> convolution(const std::optional<store::RunConfig>& config,
                                                         const store::TensorFileReader& file) const {
    const std::optional<arithmetic::ConvolutionRule> recorded = recorded_convolution(config, file);
    if (!recorded) return convolution_;
    if (convolution_ && *convolution_ != *recorded)
      throw Error(Fault::usage, "--convolution: {} holds weights of convolution '{}', found '{}'",
                  run_or_file_, arithmetic::name_of(*recorded), arithmetic::name_of(*convolution_));
    return recorded;
  }

  fs::path data_directory(const std::optional<store::RunConfig>& config) const {
    if (data_) return *data_;
    if (config && !config->machine.data_directory.empty()) return config->machine.data_directory;
    return data::default_fashion_mnist_directory();
  }

  std::string run_or_file_;
  std::optional<fs::path> data_;
  std::optional<std::string> model_;
  std::optional<arithmetic::ConvolutionRule> convolution_;
  std::optional<int> threads_;
  std::string devices_ = "cpu:0";
  Devices crews_;
  std::optional<std::vector<double>> shares_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace lockstep::app
