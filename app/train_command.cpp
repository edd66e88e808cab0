#include "train_command.h"

#include <algorithm>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "arithmetic/convolution_rule.h"
#include "base/error.h"
#include "cpu/cores.h"
#include "device/device_list.h"
#include "devices.h"
#include "environment.h"
#include "opening_line.h"
#include "output.h"
#include "program/print.h"
#include "report/device_use.h"
#include "report/figures.h"
#include "report/progress.h"
#include "report/summary.h"
#include "runs/run_data.h"
#include "runs/run_files.h"
#include "runs/taken_run.h"
#include "runs/weights_file.h"
#include "stop_signals.h"
#include "timing.h"
#include "trace_output.h"
#include "train/check_groups.h"
#include "train/checkpoint.h"
#include "train/stored_weights.h"
#include "train/trainer.h"
#include "train_flags.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

std::string config_name(const TrainFlags& flags) { return flags.config.value_or("config").string(); }

// From then on the config knows its data, and so the model.
data::Split load_data(store::RunConfig& config, const TrainFlags& flags) {
  data::Split data = data::load_mnist_like(config.machine.data_directory);
  runs::expect_data(config.job, data,
                    {.directory = config.machine.data_directory, .said_by = config_name(flags)});
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
  const fs::path path = runs::file_of(*flags.load, runs::kWeightsFile);
  store::TensorFileReader file(path, store::Counters::skipped);
  auto [start, vouched] = train::read_weights(file, model);
  if (!vouched) std::cerr << runs::unvouched_text(path) << '\n';
  config.job.load = to_hex(train::hash_of(start));
  if (!expected.empty() && config.job.load != expected)
    throw Error(Fault::data, "{}: expected weights with hash {} as {} says, found {}", path.string(),
                expected, config_name(flags), config.job.load);
  return start;
}

// What each device did: the packs it computed and where its seconds went.
nlohmann::ordered_json use_json(const train::RunEnd& end) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const train::DeviceUse& use : end.use) {
    all.push_back({{"packs", use.packs},
                   {"compute", use.times.compute},
                   {"exchange", use.times.exchange},
                   {"wait", use.times.wait}});
  }
  return all;
}

// Without the digits that a double adds to a float.
nlohmann::ordered_json shortest(float value) {
  return nlohmann::ordered_json::parse(report::json_number(value));
}

nlohmann::ordered_json epochs_json(const std::vector<train::EpochReport>& epochs) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const train::EpochReport& epoch : epochs) {
    all.push_back({{"epoch", epoch.epoch},
                   {"train_loss", epoch.train_loss},
                   {"test_loss", shortest(epoch.test_loss)},
                   {"accuracy", epoch.test_accuracy()},
                   {"seconds", epoch.seconds}});
  }
  return all;
}

// Without a finished epoch accuracy, loss and seconds are null.
std::string json_of(const train::RunEnd& end) {
  nlohmann::ordered_json json{{"accuracy", nullptr},
                              {"loss", nullptr},
                              {"seconds_per_epoch", nullptr},
                              {"weights", end.weights_hash},
                              {"devices", end.devices},
                              {"run", end.run_directory},
                              {"epochs", epochs_json(end.epochs)}};
  if (end.devices.size() > 1) json["use"] = use_json(end);
  if (!end.epochs.empty()) {
    json["accuracy"] = end.epochs.back().test_accuracy();
    json["loss"] = shortest(end.epochs.back().test_loss);
    json["seconds_per_epoch"] = seconds_per_epoch(end.epochs);
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

// A run that goes on: where it stands, and what its config becomes.
struct Resumed {
  runs::TakenRun taken;
  store::RunConfig config;
};

void expect_its_batch_norm(const store::RunConfig& config, const TrainFlags& flags, const fs::path& run) {
  if (!flags.batch_norm) return;
  const int asked = ghost_of(*flags.batch_norm, train::model_of(config.job),
                             {config.job.batch, config.machine.devices.size()});
  if (asked != config.job.ghost)
    throw Error(Fault::usage, "--resume: {} trains with batch norm '{}', found '{}'", run.string(),
                batch_norm_text(config.job.ghost), batch_norm_text(asked));
}

Resumed resume(const fs::path& run, const TrainFlags& flags, Devices& devices) {
  const std::vector<std::string> given = job_flags(flags);
  if (!given.empty())
    throw Error(Fault::usage, "--resume: the run's job stays what it is; leave out {}",
                fmt::join(given, ", "));
  runs::TakenRun taken = runs::take_up(run, train::checkpoint_tensors);
  const store::FoundCheckpoint& found = taken.found;
  for (const store::SkippedCheckpoint& one : found.skipped) std::cerr << "skipped " << one.why << '\n';
  store::RunConfig config = found.checkpoint.config;
  if (flags.model && *flags.model != config.job.model)
    throw Error(Fault::usage, "--resume: {} trains model '{}', found '{}'", run.string(), config.job.model,
                *flags.model);
  if (flags.convolution && *flags.convolution != config.job.convolution)
    throw Error(Fault::usage, "--resume: {} trains with convolution '{}', found '{}'", run.string(),
                arithmetic::name_of(config.job.convolution), arithmetic::name_of(*flags.convolution));
  check_config(config, found.file.string(), devices);
  if (flags.epochs) {
    runs::expect_epochs_left(taken, *flags.epochs, "--epochs");
    config.job.epochs = *flags.epochs;
  }
  replace_machine(config.machine, flags, devices);
  expect_its_batch_norm(config, flags, run);
  if (flags.data) config.machine.data_directory = runs::kept_data_directory(*flags.data, "--data");
  if (config.machine.data_directory.empty())
    throw Error(Fault::usage,
                "--resume: {} was trained on pictures from memory; say with --data DIR where they are",
                run.string());
  return {std::move(taken), std::move(config)};
}

train::Machine machine_of(const store::MachineConfig& config, const TrainFlags& flags) {
  return {.order = config.order == "layer" ? device::Order::layer : device::Order::pack,
          .exchange = &program::exchange::kind_named(config.exchange),
          .shard_optimizer = config.shard_optimizer,
          .record = flags.record,
          .trace = flags.trace.has_value(),
          .shares = config.shares};
}

// However it is written: with a slash at its end, or from the root.
fs::path place_of(const fs::path& path) {
  std::error_code gone;  // the working directory is
  const fs::path whole = fs::absolute(path, gone);
  return ((gone ? path : whole) / "").lexically_normal();
}

// Says where a run is that ends with an error: its last checkpoint can be gone on with.
struct RunNote {
  RunNote() = default;
  RunNote(const RunNote&) = delete;
  RunNote& operator=(const RunNote&) = delete;
  ~RunNote() {
    if (!run.empty()) std::cerr << "run " << run.native() << '\n';
  }
  fs::path run;  // empty: there is none, or it has been told
};

// The outputs that the flags name, before anything long begins.
void check_outputs(const TrainFlags& flags, const store::RunConfig& config) {
  if (flags.out && flags.trace && place_of(*flags.out) == place_of(*flags.trace))
    throw Error(Fault::usage, "--trace and --out: expected two names, found {} twice", flags.out->string());
  if (flags.resume) return;
  if (flags.out) {
    store::expect_new_directory(*flags.out);
  } else {
    store::expect_room_for_directory(fs::path(runs::kRunsDirectory) / config.job.model);
  }
}

std::int64_t steps_left(const train::Job& job, std::size_t examples, const train::TrainOptions& options) {
  const auto batch = static_cast<std::size_t>(job.batch);
  const auto per_epoch = static_cast<std::int64_t>((examples + batch - 1) / batch);
  return per_epoch * job.epochs - (options.resume ? options.resume->step : 0);
}

// What each rank runs in a step of a whole minibatch, or one of them.
std::string program_text(const store::RunConfig& config, std::optional<int> only) {
  const auto ranks = static_cast<int>(config.machine.devices.size());
  if (only && (*only < 0 || *only >= ranks))
    throw Error(Fault::usage, "--rank {}: the run has ranks 0 to {}", *only, ranks - 1);
  const train::Machine machine{.exchange = &program::exchange::kind_named(config.machine.exchange),
                               .shard_optimizer = config.machine.shard_optimizer,
                               .shares = config.machine.shares};
  const train::Job job = train::job_of(config.job, static_cast<std::size_t>(config.job.batch));
  train::check_groups(job.model, job.batch, static_cast<std::size_t>(job.batch));
  const program::DataPlan plan =
      train::data_plan(machine, ranks, cpu::share_cores(ranks, config.machine.threads));
  const std::vector<program::Program> programs =
      train::training_programs(job, plan).make(arithmetic::pack_count(config.job.batch));
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    if (only.value_or(rank) != rank) continue;
    text += fmt::format("rank {}, {}\n", rank, config.machine.devices[static_cast<std::size_t>(rank)]);
    text += program::to_text(programs[static_cast<std::size_t>(rank)]);
  }
  return text;
}

class TrainCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser = app.add_subcommand("train", "Train a model on Fashion-MNIST");
    add_flags(*parser, flags_, devices_);
    return parser;
  }

  int run() override {
    std::optional<Resumed> resumed;
    if (flags_.resume) resumed = resume(*flags_.resume, flags_, devices_);
    store::RunConfig config = resumed ? resumed->config : resolve(flags_, devices_);
    train::model_of(config.job);  // refuses what no data makes right
    if (flags_.print_program) {
      print_result(program_text(config, flags_.rank));
      return 0;
    }
    check_outputs(flags_, config);
    std::optional<TraceOutput> trace;
    if (flags_.trace) trace.emplace(*flags_.trace);
    const StopSignals signals;
    const std::unique_ptr<run::Crew> crew = devices_.make_crew({.devices = config.machine.devices,
                                                                .threads = config.machine.threads,
                                                                .timeout = config.machine.timeout,
                                                                .bind = flags_.bind,
                                                                .drill = flags_.drill});
    const data::Split data = load_data(config, flags_);
    const model::Model model = train::model_of(config.job);
    train::check_fits(model, data.test);
    train::TrainOptions options{.machine = machine_of(config.machine, flags_),
                                .stop = [&] { return signals.received() != 0; }};
    options.checkpoint_every = flags_.checkpoint_every.value_or(0);
    if (resumed) {
      const store::FoundCheckpoint& found = resumed->taken.found;
      options.resume = train::state_of(found.checkpoint, model, config.job.data_sizes, found.file.string());
    } else {
      options.start = load_start(config, model, flags_);
    }
    const train::Job job = train::job_of(config.job, data.train.size());
    const std::int64_t steps = steps_left(job, data.train.size(), options);
    expect_drill_happens(flags_.drill, config.machine.devices, steps);
    std::cerr << idle_devices(*crew, job.batch, config.machine.shares);

    train::Training training(job, data, *crew, options);

    // nothing is left behind by what was refused up to here
    RunNote note;  // told below the progress
    report::Progress progress(std::cerr, progress_options(), seconds_now);
    const runs::RunFilesOptions file_options{
        .out = flags_.out, .record = flags_.record, .drawings = {&progress}};
    runs::RunFiles files =
        resumed && options.resume
            ? runs::RunFiles({resumed->taken.run, std::move(resumed->taken.lock), *options.resume},
                             file_options, model, config)
            : runs::RunFiles(file_options, model, config);
    note.run = files.directory();
    std::cerr << files.missing_rows();
    if (resumed)
      for (const fs::path& kept : store::set_aside(resumed->taken.found.skipped))
        std::cerr << "kept the skipped checkpoint as " << kept.string() << '\n';
    std::cerr << opening_line(
        {.model = model,
         .data = data,
         .data_directory = config.machine.data_directory,
         .devices = config.machine.devices,
         .threads = device::all_cpu(config.machine.devices) ? config.machine.threads : 0,
         .cores = cpu::usable_cores()});
    const train::TrainResult result = training.run(
        {files.observers(), [&](const train::TrainState& state) { files.save_checkpoint(state); }});
    const train::RunEnd end = files.finish(result, crew->names());
    if (trace) trace->write(result.traces);
    print_result(flags_.json ? json_of(end) : report::summary(end));
    note.run.clear();
    std::cerr << report::device_use(end) << report::kept_in(end);
    if (result.interrupted) std::cerr << report::interrupted(end, job.epochs);
    if (steps == 0)
      std::cerr << (job.schedule.kind == arithmetic::ScheduleKind::cosine
                        ? report::nothing_left_of_schedule(end, config.job.model)
                        : report::nothing_left(end));
    return result.interrupted ? signals.exit_code() : 0;
  }

 private:
  TrainFlags flags_;
  Devices devices_;
};

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace lockstep::app
