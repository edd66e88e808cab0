#include "diff_command.h"

#include <bit>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "base/error.h"
#include "data/dataset.h"
#include "devices.h"
#include "numbers.h"
#include "output.h"
#include "recorded_run.h"
#include "runs/run_config_file.h"
#include "runs/run_data.h"
#include "runs/weights_file.h"

namespace lockstep::app {
namespace {

namespace fs = std::filesystem;

// The lines of [job] in which two configs differ, as "lr = 0.2 and lr = 0.3".
std::string job_differences(const store::RunConfig& a, const store::RunConfig& b) {
  // by key; a key that only one of them has is "no beta1" in the other
  const auto lines = [](const store::RunConfig& config) {
    const std::string text = store::to_toml(config);
    std::vector<std::pair<std::string, std::string>> all;
    for (std::size_t from = 0, end = 0; (end = text.find('\n', from)) != from; from = end + 1) {
      const std::string line = text.substr(from, end - from);  // [machine] comes after an empty one
      all.emplace_back(line.substr(0, line.find(" = ")), line);
    }
    return all;
  };
  const auto line_of = [](const auto& all, const std::string& key) {
    const auto found = std::ranges::find(all, key, [](const auto& line) { return line.first; });
    return found == all.end() ? "no " + key : found->second;
  };
  auto keys = lines(a);
  const auto one = keys, other = lines(b);
  for (const auto& line : other) {
    if (line_of(one, line.first) == "no " + line.first) keys.push_back(line);
  }
  std::string text;
  for (const auto& [key, ignored] : keys) {
    const std::string of_a = line_of(one, key), of_b = line_of(other, key);
    if (of_a != of_b) text += fmt::format("the jobs differ: {} and {}\n", of_a, of_b);
  }
  return text;
}

class DiffCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser =
        app.add_subcommand("diff", "Find the first step, tensor and element where two runs part");
    parser->add_option("RUN_A", a_, "A run directory")->required()->type_name("");
    parser->add_option("RUN_B", b_, "Another")->required()->type_name("");
    parser
        ->add_option_function<std::string>(
            "--data", [this](const std::string& text) { data_ = given_path("--data", text); },
            "Where the IDX files are (default: where the first run had them)")
        ->type_name("DIR");
    parser->add_option("--devices", devices_, "What replays them (default: one CPU device of all cores)")
        ->type_name("LIST");
    crews_.add_probe(*parser);
    return parser;
  }

  int run() override {
    store::RunConfig config_a = runs::read_config(fs::path(a_) / runs::kConfigFile),
                     config_b = runs::read_config(fs::path(b_) / runs::kConfigFile);
    if (config_a.job.data != config_b.job.data)
      throw Error(Fault::usage, "{} and {} were trained on different data ({} and {}), which says it all", a_,
                  b_, config_a.job.data, config_b.job.data);
    const fs::path directory = data_.value_or(config_a.machine.data_directory);
    const data::Split data = data::load_mnist_like(directory);
    for (const auto& [config, run] : {std::pair(&config_a, &a_), std::pair(&config_b, &b_)})
      runs::expect_data(config->job, data,
                        {.directory = directory, .said_by = (fs::path(*run) / runs::kConfigFile).string()});
    const std::vector<std::string> devices = crews_.list("--devices", devices_);
    const StoredRun run_a = read_run(a_, config_a.job.data_sizes),
                    run_b = read_run(b_, config_b.job.data_sizes);
    const audit::DiffResult result = audit::diff(run_a.recorded, run_b.recorded, data.train,
                                                 [&] { return crews_.make_crew({.devices = devices}); });
    print_result(job_differences(config_a, config_b) + text_of(result, run_a.recorded.record.tensors));
    return result.parting ? static_cast<int>(Fault::verification) : 0;
  }

 private:
  std::string text_of(const audit::DiffResult& result, const std::vector<std::string>& tensors) const {
    const std::string holes =
        result.not_compared == 0
            ? ""
            : fmt::format("steps that are not in both records and were not compared: {}\n",
                          result.not_compared);
    if (!result.parting)
      return fmt::format("equal: {} steps, {} tensors, every hash{}\n", result.steps, tensors.size(),
                         result.last_a == result.last_b
                             ? ""
                             : fmt::format("; {} goes on to step {}, {} to step {}", a_, result.last_a, b_,
                                           result.last_b)) +
             holes;
    std::string text = holes + fmt::format("{} and {} part at step {}, tensor {}\n", a_, b_,
                                           result.parting->step, tensors[result.parting->tensor]);
    for (const audit::DiffResult::Unreproduced& run : result.unreproduced) {
      text += fmt::format(
          "{} does not reproduce its own record: replayed, it differs from it first at step {}, tensor {}; "
          "its devices or its files are to blame, not the arithmetic\n",
          run.run, run.at.step, tensors[run.at.tensor]);
    }
    if (result.element) {
      const audit::ElementDifference& d = *result.element;
      text += fmt::format(
          "replayed: layer {}, tensor {}, element [{}]: 0x{:08x} ({}) in {}, 0x{:08x} ({}) in {}\n", d.layer,
          d.tensor, fmt::join(d.at, ", "), std::bit_cast<std::uint32_t>(d.expected), d.expected, a_,
          std::bit_cast<std::uint32_t>(d.found), d.found, b_);
    }
    return text;
  }

  std::string a_, b_, devices_ = "cpu:0";
  Devices crews_;
  std::optional<fs::path> data_;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace lockstep::app
