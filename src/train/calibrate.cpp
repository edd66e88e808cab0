#include "train/calibrate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <utility>

#include "program/compile.h"

namespace lockstep::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUp = 2;
constexpr std::size_t kFewest = 5;
constexpr std::chrono::duration<double> kLongEnough{0.3};  // five steps of LeNet alone wavered by a third
constexpr std::size_t kMost = 1000;  // of a device that has to keep on until slower ones are done

program::Program program_to_time(const model::Model& model) {
  program::Program program = program::compile_training(model);
  program.purpose = program::Purpose::timing;
  return program;
}

// Of a few steps one is often disturbed.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Counts down when the device is done, or failed.
class Busy {
 public:
  explicit Busy(std::atomic<int>& busy) : busy_(busy) {}
  ~Busy() { leave(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  void leave() {
    if (!std::exchange(left_, true)) --busy_;
  }

 private:
  std::atomic<int>& busy_;
  bool left_ = false;
};

bool enough(std::size_t steps, Clock::time_point begin) {
  return steps >= kFewest && Clock::now() - begin >= kLongEnough;
}

// What is timed, and with what.
struct Trial {
  const device::StepInput input;
  const program::Program program;
  const Weights weights;
  const run::RunnerOptions options;
  const program::exchange::Kind* exchange;
};

// Of a crew of one device.
run::Crew::Options alone_options(const run::Crew& crew) {
  run::Crew::Options options = crew.options();
  options.first_rank = options.ranks = 0;
  options.connect = nullptr;
  return options;
}

// Steps a second of each device on minibatches of its own.
std::vector<double> speeds_alone(run::Crew& crew, const Trial& trial) {
  const auto devices = static_cast<std::size_t>(crew.size());
  std::vector<std::unique_ptr<run::Runner>> runners(devices);
  crew.run([&](int d) {
    crew.activity(d).working = false;  // the runner's own crew watches, here and below
    auto& runner = runners[static_cast<std::size_t>(d)];
    runner = std::make_unique<run::Runner>(crew.device(d), run::data_parallel(trial.program, {}),
                                           trial.options, alone_options(crew));
    runner->upload(trial.weights);
  });

  std::vector<double> speeds(devices);
  std::atomic<int> busy{crew.size()};
  crew.run([&](int d) {
    Busy self(busy);
    crew.activity(d).working = false;
    run::Runner& runner = *runners[static_cast<std::size_t>(d)];
    for (int i = 0; i < kWarmUp; ++i) runner.step(trial.input);
    std::vector<double> seconds;
    const auto begin = Clock::now();
    while (busy > 0 && seconds.size() < kMost) {
      const auto start = Clock::now();
      runner.step(trial.input);
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
      if (enough(seconds.size(), begin)) self.leave();
    }
    speeds[static_cast<std::size_t>(d)] = 1 / median(std::move(seconds));
  });
  return speeds;
}

// Packs a second of each device on its share of common steps; a device without packs keeps its speed.
std::vector<double> speeds_together(run::Crew& crew, const Trial& trial, const std::vector<double>& alone) {
  run::Runner runner(
      crew,
      run::data_parallel(trial.program, run::plan_for(crew, {.exchange = trial.exchange, .shares = alone})),
      trial.options);
  runner.upload(trial.weights);
  for (int i = 0; i < kWarmUp; ++i) runner.step(trial.input);
  std::vector<std::vector<double>> busy(alone.size());
  std::vector<int> packs;
  const auto begin = Clock::now();
  do {
    const run::StepResult result = runner.step(trial.input);
    packs = result.packs;
    for (std::size_t d = 0; d < busy.size(); ++d)
      busy[d].push_back(result.devices[d].compute + result.devices[d].exchange);
  } while (!enough(busy.front().size(), begin));
  // Without packs a device shows nothing; what it showed alone is in steps, of which the others' packs are
  // parts.
  const double all = static_cast<double>(std::accumulate(packs.begin(), packs.end(), 0));
  std::vector<double> speeds(alone.size());
  for (std::size_t d = 0; d < speeds.size(); ++d)
    speeds[d] = packs[d] > 0 ? packs[d] / median(std::move(busy[d])) : alone[d] * all;
  return speeds;
}

}  // namespace

std::vector<double> measure_speeds(run::Crew& crew, const Job& job, const Machine& machine,
                                   const device::Minibatch& minibatch) {
  const Trial trial{.input = {minibatch},
                    .program = program_to_time(job.model),
                    .weights = initial_weights(job.model, job.seed),
                    .options = {.most_examples = static_cast<int>(minibatch.examples.size()),
                                .order = machine.order,
                                .numbered = false},
                    .exchange = machine.exchange};
  return speeds_together(crew, trial, speeds_alone(crew, trial));
}

std::vector<double> shares_for(run::Crew& crew, const Job& job, const Machine& machine,
                               const data::Dataset& data) {
  if (!machine.shares.empty() || crew.alike()) return machine.shares;
  check_fits(job.model, data);
  std::vector<std::uint32_t> examples(std::min(static_cast<std::size_t>(job.batch), data.size()));
  std::iota(examples.begin(), examples.end(), 0U);
  return measure_speeds(crew, job, machine, {data.pixels.data(), data.labels.data(), examples});
}

}  // namespace lockstep::train
