#include "eval_command.h"

#include <filesystem>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "data/dataset.h"
#include "devices.h"
#include "evaluation_text.h"
#include "model/zoo.h"
#include "output.h"
#include "plan/device_list.h"
#include "run_config_file.h"
#include "train/evaluate.h"
#include "weights_file.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

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
    parser->add_flag("--json", json_, "Print one JSON object instead of a table");
    parser
        ->add_option_function<std::string>(
            "--threads",
            [this](const std::string& text) { threads_ = whole_number("--threads", text, kThreads); },
            "Compute threads of each device, 1 to 1,024 (default: the cores, divided among the devices)")
        ->type_name("N");
    parser->add_option("--devices", devices_, "2, 3xcpu or cpu:0,cpu:1 (default: one device of all cores)")
        ->type_name("LIST");
    return parser;
  }

  int run() override {
    const fs::path path = file_of(run_or_file_, kWeightsFile);
    const store::TensorFile file = store::read_tensor_file(path);
    const std::optional<store::RunConfig> config = config_of_run(run_or_file_);
    const model::Model model = model::zoo_model(model_name(config, file));
    const train::Weights weights = weights_in(file, model, path.string());
    const std::unique_ptr<run::Crew> crew =
        make_crew({.devices = plan::parse_device_list(devices_), .threads = threads_.value_or(0)});
    const data::Split data = data::load_mnist_like(data_directory(config));
    const train::Evaluation evaluation = train::Evaluator(*crew, model, data.test).evaluate(weights);
    const std::span<const std::string> names = data::fashion_mnist_class_names();
    print_result(json_ ? evaluation_json(evaluation, names, to_hex(train::hash_of(weights)))
                       : evaluation_table(evaluation, names));
    return 0;
  }

 private:
  std::string model_name(const std::optional<store::RunConfig>& config, const store::TensorFile& file) const {
    std::string recorded;
    if (const auto entry = file.metadata.find("model"); entry != file.metadata.end())
      recorded = entry->second;
    if (config) recorded = config->job.model;
    if (recorded.empty()) return model_.value_or("lenet");
    if (model_ && *model_ != recorded)
      throw Error(Fault::usage, "--model: {} holds weights of model '{}', found '{}'", run_or_file_, recorded,
                  *model_);
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
  std::optional<int> threads_;
  std::string devices_ = "1";
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace lockstep::app
