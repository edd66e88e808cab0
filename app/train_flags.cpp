#include "train_flags.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cpu.h"
#include "data/dataset.h"
#include "device/cpu/cpu_device.h"
#include "numbers.h"
#include "run_config_file.h"
#include "weights_file.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

constexpr WholeRange kBatch{1, 1'000'000};
constexpr WholeRange kEpochs{1, std::numeric_limits<int>::max()};

std::vector<std::string> orders() { return {"pack", "layer"}; }
std::vector<std::string> convolutions() { return {"direct"}; }

// What a config file may say and this program cannot do. Flags were checked when they were parsed.
void check_config(const store::RunConfig& config, const std::string& file) {
  const auto key = [&](std::string_view name) { return fmt::format("{}: {}", file, name); };
  expect_within(key("job.batch"), config.job.batch, kBatch);
  expect_positive(key("job.lr"), config.job.lr);
  expect_within(key("job.epochs"), config.job.epochs, kEpochs);
  known_name(key("job.convolution"), config.job.convolution, convolutions());
  expect_within(key("job.law"), config.job.law, {1, 1});
  known_name(key("machine.order"), config.machine.order, orders());
  if (config.machine.threads != 0) expect_within(key("machine.threads"), config.machine.threads, kThreads);
  if (config.machine.devices != store::MachineConfig{}.devices)
    throw Error(Fault::usage, "{}: expected [\"cpu:0\"], the one device there is, found [{}]",
                key("machine.devices"), fmt::join(config.machine.devices, ", "));
}

store::RunConfig defaults(const TrainFlags& flags) {
  if (!flags.config) return {};
  const fs::path path = file_of(*flags.config, kConfigFile);
  store::RunConfig config = read_config(path);
  check_config(config, path.string());
  return config;
}

template <class Value>
void replace(Value& value, const std::optional<Value>& flag) {
  if (flag) value = *flag;
}

fs::path data_directory(const TrainFlags& flags, const store::RunConfig& config) {
  if (flags.data) return *flags.data;
  if (!config.machine.data_directory.empty()) return config.machine.data_directory;
  return data::default_fashion_mnist_directory();
}

// A config file holds no other text.
std::string as_utf8(const fs::path& path) {
  try {
    nlohmann::json(path.string()).dump();
  } catch (const nlohmann::json::type_error&) {
    throw Error(Fault::usage, "--data: expected a path in UTF-8, found {:?}", path.string());
  }
  return path.string();
}

template <WholeRange kRange>
int whole(std::string_view name, std::string_view text) {
  return whole_number(name, text, kRange);
}
std::string order_name(std::string_view name, std::string_view text) {
  return known_name(name, text, orders());
}
std::string convolution_name(std::string_view name, std::string_view text) {
  return known_name(name, text, convolutions());
}

// An option whose text becomes a value by kParse(name, text).
template <auto kParse, class Value>
CLI::Option* add_value(CLI::App& parser, const char* name, std::optional<Value>& into) {
  return parser.add_option_function<std::string>(
      name, [name, &into](const std::string& text) { into = kParse(name, text); });
}

}  // namespace

void add_flags(CLI::App& parser, TrainFlags& flags) {
  const auto describe = [](CLI::Option* option, const char* type, const char* words, const char* group) {
    option->type_name(type)->description(words)->group(group);
  };
  const char* const job = "The job (what the bits depend on)";
  const char* const machine = "The machine (what they do not depend on)";
  const char* const files = "Files";

  parser.add_option("MODEL", flags.model, "lenet (default) or mlp")->type_name("");
  describe(add_value<whole<kBatch>>(parser, "--batch", flags.batch), "N",
           "Examples of a minibatch, 1 to 1,000,000 (default 256)", job);
  describe(add_value<positive_number>(parser, "--lr", flags.learning_rate), "X",
           "Learning rate, above 0 (default 0.2)", job);
  describe(add_value<whole<kEpochs>>(parser, "--epochs", flags.epochs), "N",
           "How often the training set is gone through (default 10)", job);
  describe(add_value<seed_number>(parser, "--seed", flags.seed), "N",
           "Of the initial weights and the shuffling (default 0)", job);
  describe(add_value<given_path>(parser, "--load", flags.load), "FILE",
           "Start from these weights instead: a safetensors file or a run directory", job);
  describe(add_value<convolution_name>(parser, "--convolution", flags.convolution), "NAME",
           "direct, the one algorithm there is", job);

  describe(add_value<whole<kThreads>>(parser, "--threads", flags.threads), "N",
           "Compute threads, 1 to 1,024 (default: every core this process may use)", machine);
  describe(add_value<order_name>(parser, "--order", flags.order), "NAME",
           "pack: a pack goes through all layers (default); layer: all packs through a layer", machine);

  describe(add_value<given_path>(parser, "--data", flags.data), "DIR",
           "Where the four IDX files are, plain or .gz (default: Debian's Fashion-MNIST)", files);
  describe(add_value<given_path>(parser, "--out", flags.out), "DIR",
           "Make this run directory (default: runs/MODEL-1 or the next free number)", files);
  describe(add_value<given_path>(parser, "--config", flags.config), "FILE",
           "Run it again: a run's config.toml gives the defaults, and the data it expects", files);

  parser.add_flag("--json", flags.json, "Print one JSON object at the end instead of two lines")
      ->group("Output");
  parser.add_flag("--print-program", flags.print_program, "Print what the device does in a step, and exit")
      ->group("Output");
}

store::RunConfig resolve(const TrainFlags& flags) {
  store::RunConfig config = defaults(flags);
  replace(config.job.model, flags.model);
  replace(config.job.seed, flags.seed);
  replace(config.job.batch, flags.batch);
  replace(config.job.lr, flags.learning_rate);
  replace(config.job.epochs, flags.epochs);
  replace(config.job.convolution, flags.convolution);
  replace(config.machine.threads, flags.threads);
  replace(config.machine.order, flags.order);
  if (config.machine.threads == 0)
    config.machine.threads = std::min(device::cpu::usable_cores(), kThreads.most);
  config.machine.data_directory = as_utf8(fs::absolute(data_directory(flags, config)).lexically_normal());
  return config;
}

}  // namespace lockstep::app
