#include "train_command.h"

#include <algorithm>
#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cpu.h"
#include "model/zoo.h"
#include "output.h"
#include "program/compile.h"
#include "program/print.h"
#include "report/summary.h"
#include "run_files.h"
#include "stop_signals.h"
#include "train/trainer.h"
#include "train_flags.h"
#include "weights_file.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

std::string config_name(const TrainFlags& flags) { return flags.config.value_or("config").string(); }

data::Split load_data(store::RunConfig& config, const model::Model& model, const TrainFlags& flags) {
  data::Split data = data::load_mnist_like(config.machine.data_directory);
  const std::string found = to_hex(data::hash_of(data));
  if (!config.job.data.empty() && config.job.data != found)
    throw Error(Fault::data,
                "{}: expected the data with hash {} as {} says, found {}; say with --data DIR where it is",
                config.machine.data_directory, config.job.data, config_name(flags), found);
  config.job.data = found;
  train::check_fits(model, data.train);
  train::check_fits(model, data.test);
  return data;
}

std::optional<train::Weights> load_start(store::RunConfig& config, const model::Model& model,
                                         const TrainFlags& flags) {
  const std::string expected = config.job.load;
  if (!flags.load) {
    if (!expected.empty())
      throw Error(Fault::usage,
                  "{}: job.load: the run started from weights with hash {}; give them with --load FILE",
                  config_name(flags), expected);
    return std::nullopt;
  }
  const fs::path path = file_of(*flags.load, kWeightsFile);
  train::Weights start = weights_in(store::read_tensor_file(path), model, path.string());
  config.job.load = to_hex(train::hash_of(start));
  if (!expected.empty() && config.job.load != expected)
    throw Error(Fault::data, "{}: expected weights with hash {} as {} says, found {}", path.string(),
                expected, config_name(flags), config.job.load);
  return start;
}

double seconds_per_epoch(const std::vector<train::EpochReport>& epochs) {
  double seconds = 0;
  for (const train::EpochReport& epoch : epochs) seconds += epoch.seconds;
  return seconds / static_cast<double>(epochs.size());
}

std::string json_of(const train::RunEnd& end) {
  nlohmann::ordered_json json{{"accuracy", nullptr},
                              {"seconds_per_epoch", nullptr},
                              {"weights", end.weights_hash},
                              {"devices", end.devices},
                              {"run", end.run_directory}};
  if (!end.epochs.empty()) {
    json["accuracy"] = end.epochs.back().test_accuracy();
    json["seconds_per_epoch"] = seconds_per_epoch(end.epochs);
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

class TrainCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser = app.add_subcommand("train", "Train a model on Fashion-MNIST");
    add_flags(*parser, flags_);
    return parser;
  }

  int run() override {
    store::RunConfig config = resolve(flags_);
    const model::Model model = model::zoo_model(config.job.model);
    if (flags_.print_program) {
      print_result(program::to_text(program::compile_training(model)));
      return 0;
    }
    const StopSignals signals;
    const std::unique_ptr<device::Device> device = make_cpu(config.machine.threads);
    const data::Split data = load_data(config, model, flags_);
    const std::optional<train::Weights> start = load_start(config, model, flags_);

    // nothing is left behind by what was refused up to here
    RunFiles files(flags_.out, config);
    const train::Job job{.model = model,
                         .seed = config.job.seed,
                         .batch = std::min(config.job.batch, static_cast<int>(data.train.size())),
                         .learning_rate = config.job.lr,
                         .epochs = config.job.epochs};
    const train::TrainResult result =
        train::train(job, data, *device,
                     {.order = config.machine.order == "layer" ? device::Order::layer : device::Order::pack,
                      .start = start,
                      .stop = [&] { return signals.received() != 0; },
                      .observers = files.observers()});
    const train::RunEnd end = files.finish(model, result, device->name());
    print_result(flags_.json ? json_of(end) : report::summary(end));
    std::cerr << report::kept_in(end);
    return result.interrupted ? signals.exit_code() : 0;
  }

 private:
  TrainFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace lockstep::app
