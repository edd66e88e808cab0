#include "verify_command.h"

#include <algorithm>
#include <iostream>
#include <limits>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "audit/verify.h"
#include "base/error.h"
#include "batch_norm_option.h"
#include "convolution_option.h"
#include "device/device_list.h"
#include "devices.h"
#include "drill.h"
#include "lists.h"
#include "model/example_groups.h"
#include "model/zoo.h"
#include "output.h"
#include "report/verify_table.h"
#include "shares.h"
#include "train/check_groups.h"
#include "train/pictures.h"
#include "update_options.h"
#include "verify_text.h"

namespace lockstep::app {
namespace {

constexpr WholeRange kSteps{1, std::numeric_limits<int>::max()};

// Every device that a setting has, once.
std::vector<std::string> devices_of(const std::vector<audit::Setting>& settings) {
  std::vector<std::string> devices;
  for (const audit::Setting& setting : settings) {
    for (const std::string& device : setting.devices)
      if (std::ranges::find(devices, device) == devices.end()) devices.push_back(device);
  }
  return devices;
}

class VerifyCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser = app.add_subcommand(
        "verify", "Run one job under many settings and compare every bit after every step");
    const auto add = [&](const char* name, const char* type, const char* words, auto parse) {
      parser->add_option_function<std::string>(name, parse, words)->type_name(type);
    };
    parser->add_option("MODEL", model_, model::zoo_text())->type_name("");
    add("--devices", "LIST",
        "Settings, separated by commas (default 1, 2, 3, 5, 8 and 16 of the CPU); + joins devices inside one",
        [this](const std::string& text) { devices_ = text; });
    add_shares(*parser, shares_);
    crews_.add_probe(*parser);
    add("--threads", "LIST",
        "Compute threads of each device, several separated by commas (default: the cores, divided)",
        [this](const std::string& text) {
          threads_ =
              list_of(text, [](std::string_view part) { return whole_number("--threads", part, kThreads); });
        });
    add("--exchange", "LIST", "Exchanges, separated by commas (default: all)",
        [this](const std::string& text) {
          exchanges_ =
              list_of(text, [](std::string_view part) { return &program::exchange::kind_named(part); });
        });
    add("--order", "LIST", "pack, layer or both, separated by commas (default pack)",
        [this](const std::string& text) {
          orders_ = list_of(text, [](std::string_view part) {
            return known_name("--order", part, std::vector<std::string>{"pack", "layer"}) == "pack"
                       ? device::Order::pack
                       : device::Order::layer;
          });
        });
    parser->add_flag("--shard-optimizer", shard_optimizer_,
                     "Owners update their parts (not on a single device)");
    add("--steps", "N", "Steps of each setting (default 50)",
        [this](const std::string& text) { steps_ = whole_number("--steps", text, kSteps); });
    add("--batch", "N", "Examples of a minibatch (default 256)", [this](const std::string& text) {
      job_.batch = whole_number("--batch", text, {1, 1'000'000});
    });
    add("--lr", "X", "Learning rate (default 0.2; 0.001 of adam and adamw)",
        [this](const std::string& text) { rate_ = positive_number("--lr", text); });
    add_update_options(*parser, update_);
    add("--epochs", "N", "Of the job: what the schedule cosine is spread over (default 10)",
        [this](const std::string& text) {
          job_.epochs = whole_number("--epochs", text, {1, std::numeric_limits<int>::max()});
        });
    add("--seed", "N", "Of the initial weights and the shuffling (default 0)",
        [this](const std::string& text) { job_.seed = seed_number("--seed", text); });
    add_convolution(*parser, convolution_);
    add_batch_norm(*parser, batch_norm_);
    add("--data", "DIR", "Where the four IDX files are (default: Debian's Fashion-MNIST)",
        [this](const std::string& text) { data_ = given_path("--data", text); });
    add_drill(*parser, drill_);
    parser->add_flag("--json", json_, "Print one JSON object with the hash of every tensor after every step");
    return parser;
  }

  int run() override {
    model::zoo_model(model_);  // refuses an unknown name
    job_.optimizer = optimizer_of(update_);
    job_.schedule = schedule_of(update_);
    job_.learning_rate = rate_.value_or(arithmetic::update_rule(job_.optimizer.kind).usual_rate);
    const std::vector<audit::Setting> settings = make_settings();
    expect_drill_happens(drill_, devices_of(settings), steps_);
    const data::Split data = data::load_mnist_like(data_.value_or(data::default_fashion_mnist_directory()));
    job_.model = model::zoo_model(model_, train::pictures_of(data.train));
    job_.model.convolution = convolution_.value_or(job_.model.convolution);
    job_.batch = std::min(job_.batch, static_cast<int>(data.train.size()));
    set_batch_norm(settings, data.train.size());
    const std::vector<audit::SettingResult> results = audit::verify(
        {.job = job_,
         .data = data.train,
         .settings = settings,
         .steps = steps_,
         .make_crew =
             [this](const std::vector<std::string>& devices, int threads) {
               return crews_.make_crew({.devices = devices, .threads = threads, .drill = drill_});
             },
         .on_setting =
             [&](const audit::SettingResult& result) {
               std::cerr << fmt::format("{} of {}: {}\n", ++done_, settings.size(),
                                        result.difference ? "DIFFERS" : "equal");
             }});
    const bool equal = std::ranges::none_of(
        results, [](const audit::SettingResult& result) { return result.difference.has_value(); });
    print_result(json_ ? json_text(results, equal) : table_text(results));
    return equal ? 0 : static_cast<int>(Fault::verification);
  }

 private:
  std::vector<audit::Setting> make_settings() {
    std::vector<audit::Setting> settings;
    for (const std::vector<std::string>& devices : crews_.settings("--devices", devices_)) {
      for (const int threads : threads_) {
        for (const program::exchange::Kind* exchange : exchanges_) {
          for (const device::Order order : orders_) {
            // One device exchanges nothing: once is enough.
            if (devices.size() == 1 && exchange != exchanges_.front()) continue;
            settings.push_back({devices,
                                threads == 0 ? default_threads(devices) : threads,
                                {.order = order,
                                 .exchange = exchange,
                                 .shard_optimizer = shard_optimizer_ && devices.size() > 1,
                                 .shares = shares_for(devices)}});
          }
        }
      }
    }
    if (shares_ && std::ranges::none_of(settings, [](const audit::Setting& setting) {
          return !setting.machine.shares.empty();
        }))
      throw Error(Fault::usage, "--shares: expected as many numbers as a setting has devices, found {}",
                  shares_->size());
    return settings;
  }

  // All settings compute one job: with `device`, that of the setting with the most devices.
  void set_batch_norm(const std::vector<audit::Setting>& settings, std::size_t examples) {
    if (!batch_norm_) return;
    const audit::Setting& most = *std::ranges::max_element(
        settings, {}, [](const audit::Setting& setting) { return setting.devices.size(); });
    const int ghost = ghost_of(*batch_norm_, job_.model, {job_.batch, most.devices.size()});
    model::set_ghost(job_.model, ghost);
    train::check_groups(job_.model, job_.batch, examples);
    std::cerr << fmt::format("batch norm {}\n", batch_norm_text(ghost));
  }

  // One list is for all settings with as many devices.
  std::vector<double> shares_for(const std::vector<std::string>& devices) const {
    return shares_ && shares_->size() == devices.size() ? *shares_ : std::vector<double>{};
  }

  std::string table_text(const std::vector<audit::SettingResult>& results) const {
    std::vector<report::VerifyRow> rows;
    std::string differences;
    for (const audit::SettingResult& result : results) {
      rows.push_back(verify_row(result));
      if (result.difference) differences += difference_text(result.setting, *result.difference) + '\n';
    }
    return report::verify_table(rows) + differences;
  }

  std::string json_text(const std::vector<audit::SettingResult>& results, bool equal) const {
    nlohmann::ordered_json json{{"equal", equal}, {"tensors", nlohmann::json::array()}};
    for (const model::Parameter& p : model::parameters_of(job_.model)) json["tensors"].push_back(p.name);
    for (const audit::SettingResult& result : results)
      json["settings"].push_back(nlohmann::ordered_json::parse(verify_json(result)));
    return json.dump() + '\n';
  }

  std::string model_ = "lenet", devices_ = "1xcpu,2xcpu,3xcpu,5xcpu,8xcpu,16xcpu";
  Devices crews_;
  std::optional<std::vector<double>> shares_;
  std::vector<int> threads_ = {0};
  std::vector<const program::exchange::Kind*> exchanges_ = all_exchanges();
  std::vector<device::Order> orders_ = {device::Order::pack};
  train::Job job_;
  UpdateFlags update_;
  std::optional<float> rate_;
  std::optional<arithmetic::ConvolutionRule> convolution_;
  std::optional<BatchNormForm> batch_norm_;
  int steps_ = 50;
  std::size_t done_ = 0;
  std::optional<std::filesystem::path> data_;
  std::optional<DeviceDrill> drill_;
  bool shard_optimizer_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_verify_command() { return std::make_unique<VerifyCommand>(); }

}  // namespace lockstep::app
