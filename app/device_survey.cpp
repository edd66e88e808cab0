#include "device_survey.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "cpu/cores.h"
#include "cpu/kernels.h"
#include "environment.h"
#include "host.h"
#include "measure/fma_peak.h"
#include "model/zoo.h"
#include "train/stepper.h"

namespace lockstep::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWindows = 40;  // of about a millisecond

constexpr std::string_view kFashionMnist = "8d318bb03940bca10587b0053857f5b7";  // data::hash_of

// All cores at the same time: together they may be slower than as many alone.
double cpu_multiply_adds(const cpu::Kernels& kernels, int cores) {
  std::vector<std::future<double>> rates;
  rates.reserve(static_cast<std::size_t>(cores));
  for (int core = 0; core < cores; ++core) {
    rates.push_back(std::async(std::launch::async, [&kernels] {
      measure::FmaPeak peak(kernels);
      for (int window = 0; window < kWindows; ++window) peak.sample();
      return peak.median_flops_per_second() / 2;
    }));
  }
  double sum = 0;
  for (std::future<double>& rate : rates) sum += rate.get();
  return sum;
}

// A hash for every device that has weights of its own.
std::string hashes_of(run::Runner& runner) {
  std::set<std::string> hashes;
  for (int device = 0; device < runner.crew().size(); ++device)
    hashes.insert(to_hex(train::hash_of(runner.download(device))));
  return fmt::format("{}", fmt::join(hashes, " "));
}

// "cpu:0 (fast), cpu:0 (direct)": the trials of which `is` holds.
template <class Is>
std::string names_of(std::span<const GoldenTrial> trials, Is is) {
  std::vector<std::string> names;
  for (const GoldenTrial& t : trials) {
    if (is(t)) names.push_back(fmt::format("{} ({})", t.devices, arithmetic::name_of(t.convolution)));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

SurveyedDevice survey_cpu() {
  SurveyedDevice cpu{.what = {.name = "cpu:0",
                              .kind = "CPU",
                              .model = processor_model(),
                              .driver = {},
                              .memory = host_memory(),
                              .units = cpu::usable_cores(),
                              .on_cores = true}};
  try {
    const cpu::Kernels& kernels = cpu::choose_kernels(environment_variable("LOCKSTEP_TARGET"));
    cpu.what.driver = fmt::format("{} kernels", kernels.name);
    cpu.multiply_adds = cpu_multiply_adds(kernels, cpu.what.units);
  } catch (const Error& error) {
    if (error.fault() == Fault::usage) throw;  // LOCKSTEP_TARGET names no kernels
    cpu.refused = error.what();
  }
  return cpu;
}

SurveyedDevice survey_device(Devices& devices, const inventory::Listed& listed) {
  const inventory::Inventory::Trial trial = devices.inventory().try_out(listed.name);
  return {listed, trial.multiply_adds, trial.refused};
}

Survey survey_devices(Devices& devices) {
  Survey survey{.devices = {survey_cpu()}, .missing = devices.inventory().missing()};
  for (const inventory::Listed& listed : devices.inventory().listed())
    survey.devices.push_back(survey_device(devices, listed));
  return survey;
}

std::string golden_weights(arithmetic::ConvolutionRule rule) {
  return rule == arithmetic::ConvolutionRule::fast ? LOCKSTEP_GOLDEN_FAST : LOCKSTEP_GOLDEN_DIRECT;
}

bool is_golden_data(const data::Split& data) { return to_hex(data::hash_of(data)) == kFashionMnist; }

std::vector<std::vector<std::string>> golden_crews(const Survey& survey) {
  std::vector<std::vector<std::string>> crews;
  for (const SurveyedDevice& device : survey.devices) {
    if (device.exact()) crews.push_back({device.what.name});
  }
  const std::size_t alone = crews.size();
  for (std::size_t i = 1; i < alone; ++i) crews.push_back({crews[i - 1][0], crews[i][0]});
  return crews;
}

GoldenTrial try_golden(Devices& devices, const GoldenSetting& setting, const data::Dataset& data) {
  GoldenTrial trial{.devices = fmt::format("{}", fmt::join(setting.devices, "+")),
                    .convolution = setting.convolution,
                    .expected = golden_weights(setting.convolution)};
  try {
    const std::unique_ptr<run::Crew> crew =
        devices.make_crew({.devices = setting.devices, .drill = setting.drill});
    train::Job job{.model = model::lenet()};
    job.model.convolution = setting.convolution;
    train::Stepper stepper(*crew, job, {}, data);
    stepper.start();
    std::vector<double> seconds;
    while (stepper.steps() < kGoldenSteps) {
      const auto start = Clock::now();
      trial.packs = stepper.step().packs;
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    std::ranges::nth_element(seconds, seconds.begin() + kGoldenSteps / 2);
    trial.seconds = seconds[kGoldenSteps / 2];
    trial.weights = hashes_of(stepper.runner());
  } catch (const Error& error) {
    trial.failed = error.what();
  }
  return trial;
}

void expect_those_of_the_first(std::span<GoldenTrial> trials) {
  for (GoldenTrial& trial : trials) {
    const auto first = std::ranges::find_if(trials, [&](const GoldenTrial& other) {
      return other.done() && other.convolution == trial.convolution;
    });
    trial.expected = first == trials.end() ? "" : first->weights;
  }
}

void check_bits(std::span<const GoldenTrial> trials) {
  const std::string differ =
      names_of(trials, [](const GoldenTrial& t) { return t.done() && !t.same_bits(); });
  if (!differ.empty())
    throw Error(Fault::verification, "bits differ from those that every device should have: {}", differ);
  const std::string failed = names_of(trials, [](const GoldenTrial& t) { return !t.done(); });
  if (!failed.empty()) throw Error(Fault::device, "could not train, as the report says: {}", failed);
}

}  // namespace lockstep::app
