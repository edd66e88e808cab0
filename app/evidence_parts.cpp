#include "evidence_parts.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/verify.h"
#include "base/error.h"
#include "base/hash.h"
#include "bench_crew.h"
#include "bench_text.h"
#include "cpu/cores.h"
#include "cpu/kernels.h"
#include "device/device_list.h"
#include "device_survey.h"
#include "devices.h"
#include "devices_text.h"
#include "environment.h"
#include "host.h"
#include "lists.h"
#include "measure/synthetic_minibatch.h"
#include "measure/work_times.h"
#include "model/zoo.h"
#include "verify_text.h"

namespace lockstep::app {
namespace {

using evidence::Findings;
using evidence::Part;
using Json = nlohmann::ordered_json;

// Four minibatches, the last of 232: the fifth step begins another epoch.
constexpr int kExamples = 1000;
constexpr float kRate = 0.1f;

// "opencl:0" as a part of a file's name.
std::string file_word(std::string name) {
  std::ranges::replace(name, ':', '-');
  return name;
}

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Those of one part. A device that is stuck is what the part gives up for.
std::unique_ptr<Devices> devices_for(const Findings& findings) {
  auto devices = std::make_unique<Devices>();
  if (findings.give_up) {
    devices->set_on_stuck(
        [give_up = findings.give_up](const std::string& who) { give_up(Fault::device, who); });
  }
  return devices;
}

const inventory::Listed& listed_as(Devices& devices, const std::string& name) {
  const std::vector<inventory::Listed>& listed = devices.inventory().listed();
  const auto found = std::ranges::find(listed, name, &inventory::Listed::name);
  if (found == listed.end()) throw Error(Fault::device, "{} is no longer there", name);
  return *found;
}

// Tells one build of the program from another.
std::string hash_of_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return bytes.empty() ? "unknown" : to_hex(hash128(std::as_bytes(std::span(bytes))));
}

const cpu::Kernels& kernels_here() { return cpu::choose_kernels(environment_variable("LOCKSTEP_TARGET")); }

std::string bench_row(const std::string& model, const measure::FmaPeak& peak, BenchFigures figures) {
  figures.target = kernels_here().name;
  figures.model = model;
  figures.core_peak = peak.figure();
  return Json::parse(bench_json(figures)).dump();
}

}  // namespace

Part machine_part() {
  return {.name = "machine", .title = "this machine and this build", .find = [](const Findings& findings) {
            using enum arithmetic::ConvolutionRule;
            findings.row(dumped({{"lockstep", LOCKSTEP_VERSION},
                                 {"compiler", __VERSION__},
                                 {"program", hash_of_program()},
                                 {"golden_fast", golden_weights(fast)},
                                 {"golden_direct", golden_weights(direct)},
                                 {"system", operating_system()},
                                 {"processor", processor_model()},
                                 {"cores", cpu::usable_cores()},
                                 {"memory", host_memory()}}));
            findings.row(device_json(survey_cpu()));
          }};
}

Part listing_part() {
  return {.name = "devices", .title = "what drivers list", .find = [](const Findings& findings) {
            const std::unique_ptr<Devices> devices = devices_for(findings);
            for (const inventory::Listed& d : devices->inventory().listed()) {
              findings.row(dumped({{"name", d.name},
                                   {"kind", d.kind},
                                   {"model", d.model},
                                   {"driver", d.driver},
                                   {"memory", d.memory},
                                   {"units", d.units},
                                   {"gpu", d.gpu}}));
            }
            for (const std::string& line : devices->inventory().missing())
              findings.row(dumped({{"missing", line}}));
          }};
}

Part probe_part(const std::string& device) {
  return {.name = "probe-" + file_word(device),
          .title = device + ": its arithmetic, in full",
          .find = [device](const Findings& findings) {
            const std::unique_ptr<Devices> devices = devices_for(findings);
            devices->set_probe(inventory::ProbeKind::full);
            const SurveyedDevice survey = survey_device(*devices, listed_as(*devices, device));
            findings.row(device_json(survey));
            if (!survey.exact()) throw Error(Fault::device, "{}", survey.refused);
          }};
}

Part verify_part(const Comparison& comparison) {
  const std::string devices = device::to_text(comparison.devices);
  const std::string_view rule = arithmetic::name_of(comparison.convolution);
  return {
      .name = fmt::format("verify-{}-{}-{}", comparison.model, rule, file_word(devices)),
      .title = fmt::format("{} against cpu:0: {} steps of {}, {}", devices, kEvidenceSteps, comparison.model,
                           rule),
      .compares = true,
      .find = [comparison](const Findings& findings) {
        const std::unique_ptr<Devices> crews = devices_for(findings);
        train::Job job{.model = model::zoo_model(comparison.model), .learning_rate = kRate};
        job.model.convolution = comparison.convolution;
        const data::Dataset data =
            measure::synthetic_dataset(job.model.input, model::classes_of(job.model), kExamples);
        const auto setting = [](const std::vector<std::string>& names) {
          return audit::Setting{names, default_threads(names), {.exchange = all_exchanges().front()}};
        };
        const std::vector<audit::SettingResult> results = audit::verify(
            {.job = job,
             .data = data,
             .settings = {setting({"cpu:0"}), setting(comparison.devices)},
             .steps = kEvidenceSteps,
             .make_crew =
                 [&](const std::vector<std::string>& names, int threads) {
                   return crews->make_crew({.devices = names, .threads = threads, .drill = comparison.drill});
                 },
             .on_setting = [&](const audit::SettingResult& result) { findings.row(verify_json(result)); }});
        for (const audit::SettingResult& result : results) {
          if (result.difference)
            throw Error(Fault::verification, "{}", difference_text(result.setting, *result.difference));
        }
      }};
}

Part step_part(const std::string& device, const Measurement& measurement) {
  return {.name = fmt::format("bench-{}-{}", measurement.model, file_word(device)),
          .title = fmt::format("{} beside the CPU: seconds of a step of {}", device, measurement.model),
          .find = [device, measurement](const Findings& findings) {
            const std::unique_ptr<Devices> crews = devices_for(findings);
            measure::FmaPeak peak(kernels_here());
            measure::StepBenchOptions options{.make_crew = make_bench_crew,
                                              .model = model::zoo_model(measurement.model)};
            options.make_named_crew = [&](const std::vector<std::string>& names, int threads) {
              return crews->make_crew({.devices = names, .threads = threads});
            };
            options.settings = {{.threads = default_threads({"cpu:0"})}, {.threads = 0, .names = {device}}};
            options.pace.seconds = measurement.seconds;
            BenchFigures figures;
            figures.settings = measure::bench_steps(options, peak);
            findings.row(bench_row(measurement.model, peak, figures));
          }};
}

Part work_part(const std::string& device, const Measurement& measurement) {
  return {
      .name = fmt::format("kernels-{}-{}", measurement.model, file_word(device)),
      .title = fmt::format("{}: what a step of {} consists of", device, measurement.model),
      .find = [device, measurement](const Findings& findings) {
        const std::unique_ptr<Devices> crews = devices_for(findings);
        const std::unique_ptr<run::Crew> crew = crews->make_crew({.devices = {device}});
        measure::WorkTimesOptions options{.model = model::zoo_model(measurement.model)};
        options.pace.seconds = measurement.seconds;
        for (const measure::WorkTime& time : measure::work_times(*crew, options)) {
          findings.row(dumped({{"work", time.name},
                               {"exchange", time.exchange},
                               {"seconds", time.seconds.median},
                               {"quartiles", {time.seconds.lower_quartile, time.seconds.upper_quartile}}}));
        }
      }};
}

Part cpu_part(const Measurement& measurement) {
  return {.name = fmt::format("kernels-{}-cpu", measurement.model),
          .title = fmt::format("one core: kernels and step of {}", measurement.model),
          .find = [measurement](const Findings& findings) {
            measure::FmaPeak peak(kernels_here());
            BenchFigures figures;
            measure::StepBenchOptions steps{.make_crew = make_bench_crew,
                                            .model = model::zoo_model(measurement.model)};
            steps.pace.seconds = measurement.seconds;
            figures.steps = measure::bench_steps(steps, peak);
            measure::KernelBenchOptions kernels{.make_crew = make_bench_crew, .model = steps.model};
            kernels.pace.seconds = measurement.seconds;
            figures.kernels = measure::bench_kernels(kernels, peak);
            findings.row(bench_row(measurement.model, peak, figures));
          }};
}

}  // namespace lockstep::app
