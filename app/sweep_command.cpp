#include "sweep_command.h"

#include <algorithm>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>

#include <CLI/CLI.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "convolution_option.h"
#include "devices.h"
#include "lists.h"
#include "model/zoo.h"
#include "output.h"
#include "report/sweep_svg.h"
#include "report/sweep_table.h"
#include "stop_signals.h"
#include "store/run_directory.h"
#include "train/trainer.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

// The decimal that people typed, not the digits a float adds to it.
double decimal(float value) { return std::stod(fmt::format("{}", value)); }

class SweepCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser = app.add_subcommand(
        "sweep", "Train with several learning rates and numbers of devices; table and picture");
    const auto add = [&](const char* name, const char* type, const char* words, auto parse) {
      parser->add_option_function<std::string>(name, parse, words)->type_name(type);
    };
    parser->add_option("MODEL", model_, "lenet (default) or mlp")->type_name("");
    add("--lr", "LIST", "Learning rates, separated by commas (default 0.2)", [this](const std::string& text) {
      rates_ = list_of(text, [](std::string_view part) { return positive_number("--lr", part); });
    });
    add("--devices", "LIST",
        "Settings, separated by commas (default 1 and 2 of the CPU); + joins devices inside one",
        [this](const std::string& text) { devices_ = text; });
    crews_.add_probe(*parser);
    add("--batch", "N", "Examples of a minibatch (default 256)", [this](const std::string& text) {
      job_.batch = whole_number("--batch", text, {1, 1'000'000});
    });
    add("--epochs", "N", "Of each training (default 10)", [this](const std::string& text) {
      job_.epochs = whole_number("--epochs", text, {1, std::numeric_limits<int>::max()});
    });
    add("--momentum", "X", "Momentum of SGD, from 0 to below 1 (default 0)",
        [this](const std::string& text) { job_.momentum = fraction("--momentum", text); });
    add("--seed", "N", "Of the initial weights and the shuffling (default 0)",
        [this](const std::string& text) { job_.seed = seed_number("--seed", text); });
    add_convolution(*parser, convolution_);
    add("--threads", "N", "Compute threads of each device (default: the cores, divided among the devices)",
        [this](const std::string& text) { threads_ = whole_number("--threads", text, kThreads); });
    parser->add_flag("--scale-batch", scale_batch_, "k devices: minibatches of k times --batch");
    parser->add_flag("--scale-lr", scale_lr_, "k devices: k times each --lr");
    add("--data", "DIR", "Where the four IDX files are (default: Debian's Fashion-MNIST)",
        [this](const std::string& text) { data_ = given_path("--data", text); });
    add("--out", "DIR",
        "Make this directory for sweep.csv and sweep.svg (default: runs/sweep-1 or the next free number)",
        [this](const std::string& text) { out_ = given_path("--out", text); });
    parser->add_flag("--json", json_, "Print a JSON array instead of a table");
    return parser;
  }

  int run() override {
    job_.model = model::zoo_model(model_);
    job_.model.convolution = convolution_.value_or(job_.model.convolution);
    const std::vector<std::vector<std::string>> settings = crews_.settings("--devices", devices_);
    if (out_) {
      store::expect_new_directory(*out_);
    } else {
      store::expect_room_for_directory(fs::path("runs") / "sweep");
    }
    const StopSignals signals;
    const data::Split data = data::load_mnist_like(data_.value_or(data::default_fashion_mnist_directory()));
    const fs::path directory = make_directory();
    std::vector<report::SweepRow> rows;
    for (const float rate : rates_) {
      for (const std::vector<std::string>& devices : settings) {
        const std::optional<report::SweepRow> row = train_one(rate, devices, data, signals);
        if (!row) return signals.exit_code();
        rows.push_back(*row);
        // What is done is safe, and can be looked at while the rest runs.
        write_file_atomically(directory / "sweep.csv", report::sweep_csv(rows));
        write_file_atomically(directory / "sweep.svg", report::sweep_svg(rows));
        std::cerr << fmt::format("{} of {}\n", rows.size(), rates_.size() * settings.size());
      }
    }
    print_result(json_ ? report::sweep_json(rows) : report::sweep_table(rows));
    std::cerr << fmt::format("kept in {}\n", directory.string());
    return 0;
  }

 private:
  fs::path make_directory() const {
    if (!out_) return store::create_run_directory("runs", "sweep");
    store::create_given_directory(*out_);
    return *out_;
  }

  // Nothing if a stop was asked for.
  std::optional<report::SweepRow> train_one(float rate, const std::vector<std::string>& devices,
                                            const data::Split& data, const StopSignals& signals) {
    const auto count = static_cast<int>(devices.size());
    train::Job job = job_;
    job.learning_rate = scale_lr_ ? rate * static_cast<float>(count) : rate;
    expect_positive("--lr times the devices", job.learning_rate);
    const std::int64_t batch = scale_batch_ ? static_cast<std::int64_t>(job.batch) * count : job.batch;
    job.batch = static_cast<int>(std::min(batch, static_cast<std::int64_t>(data.train.size())));
    report::SweepRow row{.lr = decimal(job.learning_rate), .batch = job.batch, .devices = count};
    const std::unique_ptr<run::Crew> crew = crews_.make_crew({.devices = devices, .threads = threads_});
    try {
      const train::TrainResult result =
          train::train(job, data, *crew, {.stop = [&] { return signals.received() != 0; }});
      if (result.interrupted) return std::nullopt;
      row.accuracy = result.epochs.back().test_accuracy();
      for (const train::EpochReport& epoch : result.epochs)
        row.seconds_per_epoch += epoch.seconds / static_cast<double>(result.epochs.size());
      row.weights = to_hex(train::hash_of(result.weights));
    } catch (const Error& error) {
      if (error.fault() != Fault::diverged) throw;
      row.diverged = true;
    }
    return row;
  }

  std::string model_ = "lenet", devices_ = "1xcpu,2xcpu";
  Devices crews_;
  std::vector<float> rates_ = {0.2f};
  train::Job job_;
  std::optional<arithmetic::ConvolutionRule> convolution_;
  int threads_ = 0;
  bool scale_batch_ = false, scale_lr_ = false, json_ = false;
  std::optional<fs::path> data_, out_;
};

}  // namespace

std::unique_ptr<Command> make_sweep_command() { return std::make_unique<SweepCommand>(); }

}  // namespace lockstep::app
