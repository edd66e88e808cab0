#include "sweep_command.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <optional>

#include <CLI/CLI.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "batch_norm_option.h"
#include "convolution_option.h"
#include "devices.h"
#include "environment.h"
#include "lists.h"
#include "model/zoo.h"
#include "opening_line.h"
#include "output.h"
#include "report/sweep_progress.h"
#include "report/sweep_svg.h"
#include "report/sweep_table.h"
#include "runs/run_data.h"
#include "runs/run_files.h"
#include "stop_signals.h"
#include "store/run_directory.h"
#include "sweep_run_name.h"
#include "timing.h"
#include "train/check_groups.h"
#include "train/checkpoint.h"
#include "train/minibatches.h"
#include "train/trainer.h"
#include "train_flags.h"
#include "update_options.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

// The decimal that people typed, not the digits a float adds to it.
double decimal(float value) { return std::stod(fmt::format("{}", value)); }

// Before a directory is made.
void expect_job_fits(const store::RunConfig& config, std::size_t examples) {
  const train::Job job = train::job_of(config.job, examples);
  train::step_scalars(job, train::Minibatches(job.seed, examples, job.batch).per_epoch());
  train::check_groups(job.model, job.batch, examples);
}

class SweepCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser = app.add_subcommand(
        "sweep", "Train with several learning rates and numbers of devices; table and picture");
    const auto add = [&](const char* name, const char* type, const char* words, auto parse) {
      parser->add_option_function<std::string>(name, parse, words)->type_name(type);
    };
    store::JobConfig& job = base_.job;
    parser->add_option("MODEL", job.model, model::zoo_text())->type_name("");
    add("--lr", "LIST", "Learning rates, separated by commas (default 0.2; 0.001 of adam and adamw)",
        [this](const std::string& text) {
          rates_ = list_of(text, [](std::string_view part) { return positive_number("--lr", part); });
        });
    add("--devices", "LIST",
        "Settings, separated by commas (default 1 and 2 of the CPU); + joins devices inside one",
        [this](const std::string& text) { devices_ = text; });
    crews_.add_probe(*parser);
    add("--batch", "N", "Examples of a minibatch (default 256)", [&job](const std::string& text) {
      job.batch = whole_number("--batch", text, {1, 1'000'000});
    });
    add("--epochs", "N", "Of each training (default 10)", [&job](const std::string& text) {
      job.epochs = whole_number("--epochs", text, {1, std::numeric_limits<int>::max()});
    });
    add_update_options(*parser, update_);
    add("--seed", "N", "Of the initial weights and the shuffling (default 0)",
        [&job](const std::string& text) { job.seed = seed_number("--seed", text); });
    add_convolution(*parser, convolution_);
    add_batch_norm(*parser, batch_norm_);
    add("--threads", "N", "Compute threads of each device (default: the cores, divided among the devices)",
        [this](const std::string& text) { threads_ = whole_number("--threads", text, kThreads); });
    parser->add_flag("--scale-batch", scale_batch_, "k devices: minibatches of k times --batch");
    parser->add_flag("--scale-lr", scale_lr_, "k devices: k times each --lr");
    add("--data", "DIR", "Where the four IDX files are (default: Debian's Fashion-MNIST)",
        [this](const std::string& text) { data_ = given_path("--data", text); });
    add("--out", "DIR",
        "Make this directory for sweep.csv, sweep.svg and a directory for each run, named by its settings\n"
        "(default: runs/sweep-1 or the next free number)",
        [this](const std::string& text) { out_ = given_path("--out", text); });
    parser->add_flag("--json", json_, "Print a JSON array instead of a table");
    return parser;
  }

  int run() override {
    base_.job.convolution = convolution_.value_or(base_.job.convolution);
    base_.job.optimizer = optimizer_of(update_);
    base_.job.schedule = schedule_of(update_);
    if (rates_.empty()) rates_ = {arithmetic::update_rule(base_.job.optimizer.kind).usual_rate};
    train::model_of(base_.job);  // refuses what no data makes right
    const std::vector<std::vector<std::string>> settings = crews_.settings("--devices", devices_);
    if (out_) {
      store::expect_new_directory(*out_);
    } else {
      store::expect_room_for_directory(fs::path("runs") / "sweep");
    }
    const StopSignals signals;
    base_.machine.data_directory =
        runs::kept_data_directory(data_.value_or(data::default_fashion_mnist_directory()), "--data");
    const data::Split data = data::load_mnist_like(base_.machine.data_directory);
    runs::expect_data(base_.job, data, {.directory = base_.machine.data_directory, .said_by = {}});
    const model::Model model = train::model_of(base_.job);
    train::check_fits(model, data.train);
    train::check_fits(model, data.test);
    const std::vector<store::RunConfig> configs = configs_of(settings, data.train.size());
    for (const store::RunConfig& config : configs) expect_job_fits(config, data.train.size());
    // A device that is not there is refused now, not after the runs before it.
    for (const std::vector<std::string>& devices : settings)
      crews_.make_crew({.devices = devices, .threads = threads_});
    const fs::path directory = make_directory();
    const auto runs = static_cast<int>(configs.size());
    std::cerr << fmt::format(
        "training {}, {} run{}\n",
        model_and_data({.model = model, .data = data, .data_directory = base_.machine.data_directory}), runs,
        runs == 1 ? "" : "s");
    report::SweepProgress progress(std::cerr, progress_options(), seconds_now, runs);
    const Sweep sweep{model, data, signals, directory, progress};
    std::vector<report::SweepRow> rows;
    for (const store::RunConfig& config : configs) {
      const std::optional<report::SweepRow> row = train_one(config, sweep);
      if (!row) return signals.exit_code();
      rows.push_back(*row);
      // What is done is safe, and can be looked at while the rest runs.
      write_file_atomically(directory / "sweep.csv", report::sweep_csv(rows));
      write_file_atomically(directory / "sweep.svg", report::sweep_svg(rows));
    }
    print_result(json_ ? report::sweep_json(rows) : report::sweep_table(rows));
    std::cerr << fmt::format("kept in {}\n", directory.string());
    return 0;
  }

 private:
  // What all runs have in common.
  struct Sweep {
    const model::Model& model;
    const data::Split& data;
    const StopSignals& signals;
    const fs::path& directory;
    report::SweepProgress& progress;
  };

  fs::path make_directory() const {
    if (!out_) return store::create_run_directory("runs", "sweep");
    store::create_given_directory(*out_);
    return *out_;
  }

  // A config for each run, in their order.
  std::vector<store::RunConfig> configs_of(const std::vector<std::vector<std::string>>& settings,
                                           std::size_t examples) const {
    std::vector<store::RunConfig> configs;
    for (const float rate : rates_) {
      for (const std::vector<std::string>& devices : settings) {
        const auto count = static_cast<int>(devices.size());
        store::RunConfig config = base_;
        config.job.lr = scale_lr_ ? rate * static_cast<float>(count) : rate;
        expect_positive("--lr times the devices", config.job.lr);
        const std::int64_t batch =
            scale_batch_ ? static_cast<std::int64_t>(config.job.batch) * count : config.job.batch;
        config.job.batch = static_cast<int>(std::min(batch, static_cast<std::int64_t>(examples)));
        if (batch_norm_)
          config.job.ghost =
              ghost_of(*batch_norm_, train::model_of(base_.job), {config.job.batch, devices.size()});
        config.machine.devices = devices;
        config.machine.threads = threads_ > 0 ? threads_ : default_threads(devices);
        configs.push_back(std::move(config));
      }
    }
    return configs;
  }

  // Nothing if a stop was asked for.
  std::optional<report::SweepRow> train_one(const store::RunConfig& config, const Sweep& sweep) {
    report::SweepRow row{.lr = decimal(config.job.lr),
                         .batch = config.job.batch,
                         .devices = static_cast<int>(config.machine.devices.size())};
    row.run = names_.next(row.lr, row.batch, config.machine.devices);
    sweep.progress.begin_run();
    const std::unique_ptr<run::Crew> crew =
        crews_.make_crew({.devices = config.machine.devices, .threads = config.machine.threads});
    const train::Job job = train::job_of(config.job, sweep.data.train.size());
    train::Training training(job, sweep.data, *crew, {.machine = {.record = true}, .stop = [&] {
                                                        return sweep.signals.received() != 0;
                                                      }});
    runs::RunFiles files({.out = sweep.directory / row.run}, sweep.model, config);
    std::vector<train::Observer*> observers = files.observers();
    observers.push_back(&sweep.progress);
    try {
      const train::TrainResult result =
          training.run({observers, [&](const train::TrainState& state) { files.save_checkpoint(state); }});
      row.weights = files.finish(result, crew->names()).weights_hash;
      if (result.interrupted) {
        sweep.progress.interrupt_run((sweep.directory / row.run).string());
        return std::nullopt;
      }
      row.accuracy = result.epochs.back().test_accuracy();
      row.seconds_per_epoch = seconds_per_epoch(result.epochs);
      sweep.progress.end_run(row);
    } catch (const Error& error) {
      if (error.fault() != Fault::diverged) throw;
      row.diverged = true;
      sweep.progress.end_run(row, error.what());
    }
    return row;
  }

  store::RunConfig base_;  // what all runs have in common
  std::string devices_ = "1xcpu,2xcpu";
  Devices crews_;
  SweepRunNames names_;
  UpdateFlags update_;
  std::vector<float> rates_;
  std::optional<arithmetic::ConvolutionRule> convolution_;
  std::optional<BatchNormForm> batch_norm_;
  int threads_ = 0;
  bool scale_batch_ = false, scale_lr_ = false, json_ = false;
  std::optional<fs::path> data_, out_;
};

}  // namespace

std::unique_ptr<Command> make_sweep_command() { return std::make_unique<SweepCommand>(); }

}  // namespace lockstep::app
