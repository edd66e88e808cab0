#include "train_flags.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "convolution_option.h"
#include "data/dataset.h"
#include "model/zoo.h"
#include "numbers.h"
#include "program/exchange/exchange.h"
#include "runs/run_config_file.h"
#include "runs/run_data.h"
#include "runs/weights_file.h"
#include "shares.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

constexpr WholeRange kBatch{1, 1'000'000};
constexpr WholeRange kEpochs{1, std::numeric_limits<int>::max()};
constexpr WholeRange kRanks{0, std::numeric_limits<int>::max()};
constexpr WholeRange kCheckpointEvery{1, std::numeric_limits<int>::max()};

std::vector<std::string> orders() { return {"pack", "layer"}; }
std::vector<std::string> exchanges() {
  std::vector<std::string> names;
  names.reserve(program::exchange::kinds().size());
  for (const program::exchange::Kind& kind : program::exchange::kinds()) names.emplace_back(kind.name);
  return names;
}

store::RunConfig defaults(const TrainFlags& flags, Devices& devices) {
  if (!flags.config) return {};
  const fs::path path = runs::file_of(*flags.config, runs::kConfigFile);
  store::RunConfig config = runs::read_config(path);
  check_config(config, path.string(), devices);
  return config;
}

template <class Value>
void replace(Value& value, const std::optional<Value>& flag) {
  if (flag) value = *flag;
}

// The book's exercise: k devices, k times the minibatch, and perhaps the learning rate with it.
void scale_job(store::RunConfig& config, const TrainFlags& flags) {
  const std::size_t devices = config.machine.devices.size();
  if (flags.scale_lr) config.job.lr *= static_cast<float>(devices);
  expect_positive("--lr times the devices", config.job.lr);
  if (!flags.scale_batch) return;
  const std::int64_t batch = static_cast<std::int64_t>(config.job.batch) * static_cast<std::int64_t>(devices);
  if (batch > kBatch.most)
    throw Error(Fault::usage, "--scale-batch: {} devices times {} is above {}", devices, config.job.batch,
                kBatch.most);
  config.job.batch = static_cast<int>(batch);
}

fs::path data_directory(const TrainFlags& flags, const store::RunConfig& config) {
  if (flags.data) return *flags.data;
  if (!config.machine.data_directory.empty()) return config.machine.data_directory;
  return data::default_fashion_mnist_directory();
}

template <WholeRange kRange>
int whole(std::string_view name, std::string_view text) {
  return whole_number(name, text, kRange);
}
std::string order_name(std::string_view name, std::string_view text) {
  return known_name(name, text, orders());
}
std::string exchange_name(std::string_view name, std::string_view text) {
  return known_name(name, text, exchanges());
}
std::string as_typed(std::string_view, std::string_view text) { return std::string(text); }

// An option whose text becomes a value by kParse(name, text).
template <auto kParse, class Value>
CLI::Option* add_value(CLI::App& parser, const char* name, std::optional<Value>& into) {
  return parser.add_option_function<std::string>(
      name, [name, &into](const std::string& text) { into = kParse(name, text); });
}

constexpr const char* kJob = "The job (what the bits depend on)";
constexpr const char* kMachine = "The machine (what they do not depend on)";
constexpr const char* kFiles = "Files";

void describe(CLI::Option* option, const char* type, const char* words, const char* group) {
  option->type_name(type)->description(words)->group(group);
}

}  // namespace

void check_config(store::RunConfig& config, const std::string& file, Devices& devices) {
  const auto key = [&](std::string_view name) { return fmt::format("{}: {}", file, name); };
  expect_within(key("job.batch"), config.job.batch, kBatch);
  expect_positive(key("job.lr"), config.job.lr);
  expect_within(key("job.epochs"), config.job.epochs, kEpochs);
  expect_within(key("job.law"), config.job.law, {1, 1});
  known_name(key("machine.order"), config.machine.order, orders());
  if (config.machine.threads != 0) expect_within(key("machine.threads"), config.machine.threads, kThreads);
  expect_seconds(key("machine.timeout"), config.machine.timeout);
  known_name(key("machine.exchange"), config.machine.exchange, exchanges());
  config.machine.devices =
      devices.list(key("machine.devices"), fmt::format("{}", fmt::join(config.machine.devices, ",")));
  expect_share_a_device(key("machine.shares"), config.machine.shares, config.machine.devices.size());
}

void replace_machine(store::MachineConfig& machine, const TrainFlags& flags, Devices& devices) {
  if (flags.devices) machine.devices = devices.list("--devices", *flags.devices);
  // Other devices get their own threads and shares, unless the flags say them.
  if (flags.devices && !flags.threads) machine.threads = 0;
  if (flags.devices && !flags.shares) machine.shares.clear();
  replace(machine.shares, flags.shares);
  expect_share_a_device("--shares", machine.shares, machine.devices.size());
  replace(machine.threads, flags.threads);
  replace(machine.order, flags.order);
  replace(machine.exchange, flags.exchange);
  if (flags.shard_optimizer) machine.shard_optimizer = true;
  if (flags.timeout) machine.timeout = *flags.timeout;
  if (machine.threads == 0) machine.threads = default_threads(machine.devices);
}

std::vector<std::string> job_flags(const TrainFlags& flags) {
  std::vector<std::string> given;
  const auto note = [&](bool there, const char* name) {
    if (there) given.emplace_back(name);
  };
  note(flags.batch.has_value(), "--batch");
  note(flags.learning_rate.has_value(), "--lr");
  std::ranges::copy(given_options(flags.update), std::back_inserter(given));
  note(flags.scale_batch, "--scale-batch");
  note(flags.scale_lr, "--scale-lr");
  note(flags.seed.has_value(), "--seed");
  note(flags.load.has_value(), "--load");
  note(flags.config.has_value(), "--config");
  note(flags.out.has_value(), "--out");
  return given;
}

void add_step_flags(CLI::App& parser, TrainFlags& flags, Devices& devices) {
  parser.add_option("MODEL", flags.model, model::zoo_text())->type_name("");
  describe(add_value<whole<kBatch>>(parser, "--batch", flags.batch), "N",
           "Examples of a minibatch, 1 to 1,000,000 (default 256)", kJob);
  add_update_options(parser, flags.update, kJob);
  add_convolution(parser, flags.convolution)->group(kJob);
  add_batch_norm(parser, flags.batch_norm)->group(kJob);

  describe(add_value<as_typed>(parser, "--devices", flags.devices), "LIST",
           "2, 3xcpu, 2xgpu, cpu:0+opencl:0 or auto (default: one CPU device of all cores)", kMachine);
  describe(add_value<whole<kThreads>>(parser, "--threads", flags.threads), "N",
           "Compute threads of each device, 1 to 1,024 (default: the cores, divided among the devices)",
           kMachine);
  add_shares(parser, flags.shares)->group(kMachine);
  devices.add_probe(parser)->group(kMachine);
  describe(add_value<exchange_name>(parser, "--exchange", flags.exchange), "NAME",
           "How gradients meet: sharded, every device owns a part (default); star, all at the first",
           kMachine);
  parser
      .add_flag("--shard-optimizer", flags.shard_optimizer,
                "The optimizer's state lives only at the owner of a part")
      ->group(kMachine);
  describe(add_value<order_name>(parser, "--order", flags.order), "NAME",
           "pack: a pack goes through all layers (default); layer: all packs through a layer", kMachine);
}

void add_flags(CLI::App& parser, TrainFlags& flags, Devices& devices) {
  add_step_flags(parser, flags, devices);
  describe(add_value<positive_number>(parser, "--lr", flags.learning_rate), "X",
           "Learning rate, above 0 (default 0.2; 0.001 of adam and adamw)", kJob);
  describe(add_value<whole<kEpochs>>(parser, "--epochs", flags.epochs), "N",
           "How often the training set is gone through (default 10)", kJob);
  parser.add_flag("--scale-batch", flags.scale_batch, "k devices: minibatches of k times --batch")
      ->group(kJob);
  parser.add_flag("--scale-lr", flags.scale_lr, "k devices: k times --lr")->group(kJob);
  describe(add_value<seed_number>(parser, "--seed", flags.seed), "N",
           "Of the initial weights and the shuffling (default 0)", kJob);
  describe(add_value<given_path>(parser, "--load", flags.load), "FILE",
           "Start from these weights instead: a safetensors file or a run directory", kJob);

  parser
      .add_flag_callback(
          "--no-bind", [&flags] { flags.bind = false; },
          "Leave it to the system on which cores the devices run")
      ->group(kMachine);
  describe(add_value<seconds_number>(parser, "--timeout", flags.timeout), "S",
           "A device without progress for so long ends the run, 0.1 to 1,000,000 (default 60)", kMachine);

  describe(add_value<given_path>(parser, "--data", flags.data), "DIR",
           "Where the four IDX files are, plain or .gz (default: Debian's Fashion-MNIST)", kFiles);
  describe(add_value<given_path>(parser, "--out", flags.out), "DIR",
           "Make this run directory (default: runs/MODEL-1 or the next free number)", kFiles);
  describe(add_value<given_path>(parser, "--config", flags.config), "FILE",
           "Run it again: a run's config.toml gives the defaults, and the data it expects", kFiles);
  describe(add_value<given_path>(parser, "--resume", flags.resume), "RUN",
           "Go on with a run where its last checkpoint stands, on any devices", kFiles);
  describe(add_value<whole<kCheckpointEvery>>(parser, "--checkpoint-every", flags.checkpoint_every), "N",
           "Steps between two checkpoints (default: an epoch); the last two are kept", kFiles);
  parser
      .add_flag_callback(
          "--record", [&flags] { flags.record = true; },
          "Keep hashes.csv, the hash of every parameter after every step (the default)")
      ->group(kFiles);
  parser
      .add_flag_callback(
          "--no-record", [&flags] { flags.record = false; }, "Do not keep hashes.csv")
      ->group(kFiles);
  describe(add_value<given_path>(parser, "--trace", flags.trace), "FILE",
           "Write what every device did and when, for Perfetto or chrome://tracing", kFiles);

  add_drill(parser, flags.drill);
  parser
      .add_flag("--json", flags.json,
                "Print one JSON object at the end instead of two lines:\n"
                "accuracy and loss of the test set after the last epoch, seconds_per_epoch,\n"
                "weights (their hash), devices, run (its directory), epochs (each with epoch,\n"
                "train_loss, test_loss, accuracy, seconds) and, for several devices, use\n"
                "(packs, and seconds of compute, exchange and wait)")
      ->group("Output");
  CLI::Option* const print =
      parser
          .add_flag("--print-program", flags.print_program, "Print what every rank runs in a step, and exit")
          ->group("Output");
  CLI::Option* const rank = add_value<whole<kRanks>>(parser, "--rank", flags.rank)->needs(print);
  describe(rank, "R", "Only of this rank, from 0 on", "Output");
}

store::RunConfig resolve(const TrainFlags& flags, Devices& devices) {
  store::RunConfig config = defaults(flags, devices);
  replace(config.job.model, flags.model);
  replace(config.job.seed, flags.seed);
  replace(config.job.batch, flags.batch);
  replace(config.job.epochs, flags.epochs);
  replace(config.job.convolution, flags.convolution);
  config.job.optimizer = optimizer_of(flags.update, config.job.optimizer);
  config.job.schedule = schedule_of(flags.update, config.job.schedule);
  if (!flags.config) config.job.lr = arithmetic::update_rule(config.job.optimizer.kind).usual_rate;
  replace(config.job.lr, flags.learning_rate);
  replace_machine(config.machine, flags, devices);
  scale_job(config, flags);
  if (flags.batch_norm)
    config.job.ghost = ghost_of(*flags.batch_norm, model::zoo_model(config.job.model),
                                {config.job.batch, config.machine.devices.size()});
  config.machine.data_directory = runs::kept_data_directory(data_directory(flags, config), "--data");
  return config;
}

}  // namespace lockstep::app
