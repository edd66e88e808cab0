#include "collect_evidence.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "child_process.h"
#include "environment.h"
#include "evidence/archive.h"
#include "evidence/collection.h"
#include "evidence_parts.h"
#include "host.h"
#include "output.h"
#include "output_file.h"
#include "stop_signals.h"
#include "timing.h"

namespace lockstep::app {
namespace {

using arithmetic::ConvolutionRule;
using evidence::Collection;
using evidence::Outcome;
using evidence::Part;
using evidence::Result;

struct Stopped {};  // by a signal

evidence::RunPart in_child_processes(const StopSignals& signals) {
  return [&signals](const Part& part, double seconds, const evidence::TakeRow& row) {
    const auto work = [&part](ParentLine& line) {
      part.find({.row = [&line](const std::string& text) { line.say(text); },
                 .give_up = [&line](Fault fault, const std::string& why) { line.end(fault, why); }});
    };
    const ChildEnd end = run_in_child(
        work, {.seconds = seconds, .stopped = [&signals] { return signals.received() != 0; }}, row);
    if (end.how == ChildEnd::How::stopped) throw Stopped();
    return evidence::Ending{end.how == ChildEnd::How::ended, end.fault, end.wrong};
  };
}

std::string line_of(const Result& result) {
  std::string text = result.outcome != Outcome::done ? std::string(name_of(result.outcome))
                     : result.compares               ? "equal"
                                                     : "done";
  if (result.outcome == Outcome::differs) text = "DIFFERS";
  return fmt::format("    {}{}{}\n", text, result.why.empty() ? "" : ": ", result.why);
}

// The names of the user and of the machine. The archive leaves them out.
std::vector<evidence::PrivateWord> private_words() {
  std::vector<evidence::PrivateWord> words;
  words.reserve(6);
  for (const char* const name : {"USER", "LOGNAME", "SUDO_USER"})
    words.push_back({environment_variable(name), "USER"});
  words.push_back({std::filesystem::path(environment_variable("HOME")).filename().string(), "USER"});
  const std::string host = host_name();
  words.push_back({host, "HOST"});
  words.push_back({host.substr(0, host.find('.')), "HOST"});
  return words;
}

// What drivers list.
struct Listing {
  std::vector<std::string> devices, missing;
  bool gpu = false;
};

Listing listing_of(const Result& result) {
  Listing listing;
  for (const std::string& row : result.rows) {
    const auto json = nlohmann::json::parse(row);
    if (json.contains("name")) {
      listing.devices.push_back(json["name"].get<std::string>());
      listing.gpu = listing.gpu || json["gpu"].get<bool>();
    } else {
      listing.missing.push_back(json["missing"].get<std::string>());
    }
  }
  return listing;
}

class Evidence {
 public:
  explicit Evidence(const EvidenceOptions& options)
      : options_(options),
        collection_({.seconds = options.seconds,
                     .run = in_child_processes(signals_),
                     .now = seconds_now,
                     .on_begin =
                         [this](const Part& part, double gone) {
                           std::cerr << fmt::format("[{:3.0f} of {:.0f} s] {}\n", gone, options_.seconds,
                                                    part.title);
                         },
                     .on_end =
                         [](const Result& result) {
                           if (result.outcome == Outcome::left_out) std::cerr << result.title << '\n';
                           std::cerr << line_of(result);
                         }}) {}

  int stop_code() const { return signals_.exit_code(); }

  void collect() {
    collection_.run(machine_part());
    listing_ = listing_of(collection_.run(listing_part()));
    std::vector<std::string> names = listing_.devices;
    names.emplace_back("cpu:0");
    if (listing_.devices.empty()) names.emplace_back("cpu:1");
    expect_drill_happens(options_.drill, names, kEvidenceSteps);
    if (!listing_.gpu) std::cerr << no_gpu();
    std::vector<std::string> exact;
    for (const std::string& device : listing_.devices)
      if (collection_.run(probe_part(device)).outcome == Outcome::done) exact.push_back(device);
    // Of all devices before the next: should time run out, each has given some evidence.
    for (const auto& [model, rule] : kComparisons) {
      for (const std::string& device : listing_.devices) {
        const Part part = comparison({device}, model, rule);
        if (std::ranges::find(exact, device) != exact.end())
          collection_.run(part);
        else
          collection_.leave_out(part, device + " has not proven its arithmetic");
      }
    }
    for (const std::vector<std::string>& devices : together(exact)) {
      for (const char* const model : kModels)
        collection_.run(comparison(devices, model, ConvolutionRule::fast));
    }
    for (const char* const model : kModels) {
      for (const std::string& device : exact) collection_.run(step_part(device, measured(model)));
    }
    for (const char* const model : kModels) {
      for (const std::string& device : exact) collection_.run(work_part(device, measured(model)));
    }
    for (const char* const model : kModels) collection_.run(cpu_part(measured(model)));
  }

  std::string archive() const { return evidence::archive_of(all()); }

  std::string summary() const { return (listing_.gpu ? "" : no_gpu()) + evidence::summary_of(all()); }

  int exit_code() const {
    const auto any = [this](Outcome outcome) {
      return std::ranges::find(collection_.results(), outcome, &Result::outcome) !=
             collection_.results().end();
    };
    if (any(Outcome::differs)) return static_cast<int>(Fault::verification);
    return any(Outcome::failed) ? static_cast<int>(Fault::device) : 0;
  }

 private:
  struct ModelAndRule {
    const char* model;
    ConvolutionRule rule;
  };
  static constexpr std::array kModels{"lenet", "resnet8"};
  static constexpr std::array kComparisons{ModelAndRule{"lenet", ConvolutionRule::fast},
                                           ModelAndRule{"resnet8", ConvolutionRule::fast},
                                           ModelAndRule{"lenet", ConvolutionRule::direct}};

  Part comparison(const std::vector<std::string>& devices, const std::string& model,
                  ConvolutionRule rule) const {
    return verify_part({.devices = devices, .model = model, .convolution = rule, .drill = options_.drill});
  }

  // A measurement takes a hundredth of the time for everything, so that a short collection has some of all.
  Measurement measured(const std::string& model) const { return {model, options_.seconds / 100}; }

  // The CPU with the first device, then neighbours in the list. Two CPU devices where there is nothing else.
  static std::vector<std::vector<std::string>> together(const std::vector<std::string>& exact) {
    if (exact.empty()) return {{"cpu:0", "cpu:1"}};
    std::vector<std::vector<std::string>> crews{{"cpu:0", exact[0]}};
    crews.reserve(exact.size());
    for (std::size_t i = 1; i < exact.size(); ++i) crews.push_back({exact[i - 1], exact[i]});
    return crews;
  }

  std::string no_gpu() const {
    std::string text = "No GPU was found; what else there is gives evidence.\n";
    for (const std::string& line : listing_.missing) text += fmt::format("{}\n", line);
    return text;
  }

  evidence::Evidence all() const {
    return {.version = LOCKSTEP_VERSION,
            .results = collection_.results(),
            .seconds = options_.seconds,
            .words = words_};
  }

  const EvidenceOptions options_;
  const std::vector<evidence::PrivateWord> words_ = private_words();
  const StopSignals signals_;
  Collection collection_;
  Listing listing_;
};

}  // namespace

int collect_evidence(const EvidenceOptions& options) {
  if (options.file.extension() != ".tar")
    throw Error(Fault::usage, "--evidence: expected the name of a tar archive, as gpu.tar, found '{}'",
                options.file.string());
  Evidence evidence(options);
  OutputFile file(
      options.file,
      {.option = "--evidence", .noun = "an archive of evidence", .beginning = evidence::kArchiveBeginning});
  try {
    evidence.collect();
  } catch (const Stopped&) {
    std::cerr << "interrupted; no evidence is written\n";
    return evidence.stop_code();
  }
  const std::string archive = evidence.archive();
  file.write(archive);
  print_result(
      fmt::format("\n{}{} has all of it ({} KB of text, without your name and the machine's). Please look "
                  "through it and\n"
                  "attach it to a new issue in the issue tracker of the project, also if all is well: it is "
                  "how we learn\n"
                  "about devices that we do not have.\n",
                  evidence.summary(), options.file.string(), (archive.size() + 999) / 1000));
  return evidence.exit_code();
}

}  // namespace lockstep::app
