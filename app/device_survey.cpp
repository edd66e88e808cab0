#include "device_survey.h"

#include <algorithm>
#include <chrono>
#include <future>

#include "base/error.h"
#include "device/cpu/cores.h"
#include "device/cpu/kernels.h"
#include "environment.h"
#include "host.h"
#include "measure/fma_peak.h"
#include "model/zoo.h"
#include "train/stepper.h"

namespace lockstep::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWindows = 40;  // of about a millisecond

// All cores at the same time: together they may be slower than as many alone.
double cpu_multiply_adds(const device::cpu::Kernels& kernels, int cores) {
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

SurveyedDevice survey_cpu() {
  SurveyedDevice cpu{.what = {.name = "cpu:0",
                              .kind = "CPU",
                              .model = processor_model(),
                              .driver = {},
                              .memory = host_memory(),
                              .units = device::cpu::usable_cores(),
                              .on_cores = true}};
  try {
    const device::cpu::Kernels& kernels =
        device::cpu::choose_kernels(environment_variable("LOCKSTEP_TARGET"));
    cpu.what.driver = fmt::format("{} kernels", kernels.name);
    cpu.multiply_adds = cpu_multiply_adds(kernels, cpu.what.units);
  } catch (const Error& error) {
    if (error.fault() == Fault::usage) throw;  // LOCKSTEP_TARGET names no kernels
    cpu.refused = error.what();
  }
  return cpu;
}

}  // namespace

Survey survey_devices(Devices& devices) {
  Survey survey{.devices = {survey_cpu()}, .missing = devices.inventory().missing()};
  for (const device::Listed& listed : devices.inventory().listed()) {
    const device::Inventory::Trial trial = devices.inventory().try_out(listed.name);
    survey.devices.push_back({listed, trial.multiply_adds, trial.refused});
  }
  return survey;
}

std::string golden_weights() { return LOCKSTEP_GOLDEN_LENET; }

bool GoldenTrial::same_bits() const { return failed.empty() && weights == golden_weights(); }

GoldenTrial try_golden(Devices& devices, const std::string& device, const data::Dataset& data) {
  GoldenTrial trial{.device = device};
  try {
    const std::unique_ptr<run::Crew> crew = devices.make_crew({.devices = {device}});
    train::Job job{.model = model::lenet()};
    job.model.convolution = arithmetic::ConvolutionRule::fast;
    train::Stepper stepper(*crew, job, {}, data);
    stepper.start();
    std::vector<double> seconds;
    while (stepper.steps() < kGoldenSteps) {
      const auto start = Clock::now();
      stepper.step();
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    std::ranges::nth_element(seconds, seconds.begin() + kGoldenSteps / 2);
    trial.seconds = seconds[kGoldenSteps / 2];
    trial.weights = to_hex(train::hash_of(stepper.runner().download()));
  } catch (const Error& error) {
    trial.failed = error.what();
  }
  return trial;
}

}  // namespace lockstep::app
