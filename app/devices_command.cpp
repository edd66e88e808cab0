#include "devices_command.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "devices_text.h"
#include "host.h"
#include "output.h"

namespace lockstep::app {
namespace {

class DevicesCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser =
        app.add_subcommand("devices", "List what this machine can compute with, and try each out");
    CLI::Option* const probe = devices_.add_probe(*parser);
    CLI::Option* const json = parser->add_flag("--json", json_, "Print one JSON object instead of a table");
    parser
        ->add_flag("--report", report_,
                   "Prove every device fully, train on it for a moment, and print what we would like to know "
                   "about it")
        ->excludes(json)
        ->excludes(probe);
    parser
        ->add_option_function<std::string>(
            "--data", [this](const std::string& text) { data_ = given_path("--data", text); },
            "Where Fashion-MNIST is, for --report (default: Debian's)")
        ->type_name("DIR");
    return parser;
  }

  int run() override {
    if (report_) devices_.set_probe(device::ProbeKind::full);
    const Survey survey = survey_devices(devices_);
    if (report_) {
      print_result(devices_report(make_report(survey)));
    } else {
      print_result(json_ ? devices_json(survey) : devices_table(survey));
    }
    const bool any = std::ranges::any_of(survey.devices, &SurveyedDevice::exact);
    return any ? 0 : static_cast<int>(Fault::device);
  }

 private:
  DevicesReport make_report(const Survey& survey) {
    DevicesReport report{.version = LOCKSTEP_VERSION, .system = operating_system(), .survey = survey};
    try {
      const data::Split data = data::load_mnist_like(data_.value_or(data::default_fashion_mnist_directory()));
      for (const SurveyedDevice& device : survey.devices) {
        if (!device.exact()) continue;
        std::cerr << fmt::format("{}: {} steps of LeNet\n", device.what.name, kGoldenSteps);
        report.trials.push_back(try_golden(devices_, device.what.name, data.train));
      }
    } catch (const Error& error) {
      if (error.fault() != Fault::data) throw;
      report.not_tried = error.what();
    }
    if (report.trials.empty() && report.not_tried.empty()) report.not_tried = "no device may compute";
    return report;
  }

  Devices devices_;
  std::optional<std::filesystem::path> data_;
  bool json_ = false, report_ = false;
};

}  // namespace

std::unique_ptr<Command> make_devices_command() { return std::make_unique<DevicesCommand>(); }

}  // namespace lockstep::app
