#include "devices_command.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "collect_evidence.h"
#include "devices_text.h"
#include "drill.h"
#include "host.h"
#include "model/zoo.h"
#include "numbers.h"
#include "output.h"
#include "train/job.h"

namespace lockstep::app {
namespace {

class DevicesCommand final : public Command {
 public:
  CLI::App* add_to(CLI::App& app) override {
    CLI::App* const parser =
        app.add_subcommand("devices", "List what this machine can compute with, and try each out");
    CLI::Option* const probe = devices_.add_probe(*parser);
    CLI::Option* const json = parser->add_flag("--json", json_, "Print one JSON object instead of a table");
    CLI::Option* const report =
        parser
            ->add_flag("--report", report_,
                       "Prove every device fully, train on it for a moment, and print what we would like to "
                       "know about it")
            ->excludes(json)
            ->excludes(probe);
    CLI::Option* const evidence =
        parser
            ->add_option_function<std::string>(
                "--evidence",
                [this](const std::string& text) { evidence_.file = given_path("--evidence", text); },
                "Collect what every GPU computes and how fast into a tar archive of text to send us, in at "
                "most 10 minutes")
            ->type_name("FILE")
            ->excludes(json)
            ->excludes(probe)
            ->excludes(report);
    parser
        ->add_option_function<std::string>(
            "--seconds",
            [this](const std::string& text) { evidence_.seconds = positive_number("--seconds", text); },
            "How long --evidence may take (default 600); parts for which no time is left are left out")
        ->type_name("S")
        ->needs(evidence);
    parser
        ->add_option_function<std::string>(
            "--data", [this](const std::string& text) { data_ = given_path("--data", text); },
            "Where Fashion-MNIST is, for --report (default: Debian's)")
        ->type_name("DIR")
        ->needs(report);
    add_drill(*parser, drill_);
    return parser;
  }

  int run() override {
    if (drill_ && !report_ && evidence_.file.empty())
      throw Error(Fault::usage, "--drill requires --report or --evidence; see lockstep devices --help");
    if (!evidence_.file.empty()) {
      evidence_.drill = drill_;
      return collect_evidence(evidence_);
    }
    if (report_) devices_.set_probe(inventory::ProbeKind::full);
    const Survey survey = survey_devices(devices_);
    if (report_) {
      check_drill(survey);
      const DevicesReport report = make_report(survey);
      print_result(devices_report(report));
      check_bits(report.trials);
    } else {
      print_result(json_ ? devices_json(survey) : devices_table(survey));
    }
    const bool any = std::ranges::any_of(survey.devices, &SurveyedDevice::exact);
    return any ? 0 : static_cast<int>(Fault::device);
  }

 private:
  void check_drill(const Survey& survey) const {
    std::vector<std::string> able;
    for (const SurveyedDevice& device : survey.devices)
      if (device.exact()) able.push_back(device.what.name);
    expect_drill_happens(drill_, able, kGoldenSteps);
  }

  DevicesReport make_report(const Survey& survey) {
    DevicesReport report{.version = LOCKSTEP_VERSION, .system = operating_system(), .survey = survey};
    try {
      const data::Split data = data::load_mnist_like(data_.value_or(data::default_fashion_mnist_directory()));
      train::check_fits(model::lenet(), data.train);
      report.golden_data = is_golden_data(data);
      report.trials = make_trials(survey, data.train);
    } catch (const Error& error) {
      if (error.fault() != Fault::data && error.fault() != Fault::usage) throw;
      report.not_tried = error.what();
    }
    if (!report.golden_data) expect_those_of_the_first(report.trials);
    if (report.trials.empty() && report.not_tried.empty()) report.not_tried = "no device may compute";
    return report;
  }

  std::vector<GoldenTrial> make_trials(const Survey& survey, const data::Dataset& data) {
    std::vector<GoldenTrial> trials;
    for (const std::vector<std::string>& crew : golden_crews(survey)) {
      for (const auto& [rule, name] : arithmetic::kConvolutionRules) {
        std::cerr << fmt::format("{}: {} steps of LeNet, {}\n", fmt::join(crew, "+"), kGoldenSteps, name);
        trials.push_back(try_golden(devices_, {.devices = crew, .convolution = rule, .drill = drill_}, data));
      }
    }
    return trials;
  }

  Devices devices_;
  std::optional<std::filesystem::path> data_;
  std::optional<DeviceDrill> drill_;
  EvidenceOptions evidence_;
  bool json_ = false, report_ = false;
};

}  // namespace

std::unique_ptr<Command> make_devices_command() { return std::make_unique<DevicesCommand>(); }

}  // namespace lockstep::app
