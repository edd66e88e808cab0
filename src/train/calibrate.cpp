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

// Nobody asks it for gradients, so a drill takes it for no training and spares it.
program::Program program_to_time(const model::Model& model) {
  program::Program program = program::compile_training(model);
  program.gradients.clear();
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

}  // namespace

std::vector<double> measure_speeds(run::Crew& crew, const Job& job, const device::Minibatch& minibatch,
                                   device::Order order) {
  const auto devices = static_cast<std::size_t>(crew.size());
  const device::StepInput input{minibatch};
  const Weights weights = initial_weights(job.model, job.seed);
  const program::Program program = program_to_time(job.model);
  std::vector<std::unique_ptr<run::Runner>> runners(devices);
  crew.run([&](int d) {
    crew.activity(d).working = false;  // the runner's own crew watches, here and below
    auto& runner = runners[static_cast<std::size_t>(d)];
    runner = std::make_unique<run::Runner>(
        crew.device(d), program,
        run::RunnerOptions{
            .most_examples = static_cast<int>(minibatch.examples.size()), .order = order, .numbered = false},
        crew.options());
    runner->upload(weights);
  });

  std::vector<double> speeds(devices);
  std::atomic<int> busy{crew.size()};
  crew.run([&](int d) {
    Busy self(busy);
    crew.activity(d).working = false;
    run::Runner& runner = *runners[static_cast<std::size_t>(d)];
    for (int i = 0; i < kWarmUp; ++i) runner.step(input);
    std::vector<double> seconds;
    const auto begin = Clock::now();
    while (busy > 0 && seconds.size() < kMost) {
      const auto start = Clock::now();
      runner.step(input);
      const auto end = Clock::now();
      seconds.push_back(std::chrono::duration<double>(end - start).count());
      if (seconds.size() >= kFewest && end - begin >= kLongEnough) self.leave();
    }
    speeds[static_cast<std::size_t>(d)] = 1 / median(std::move(seconds));
  });
  return speeds;
}

std::vector<double> shares_for(run::Crew& crew, const Job& job, const Machine& machine,
                               const data::Dataset& data) {
  if (!machine.shares.empty() || crew.alike()) return machine.shares;
  check_fits(job.model, data);
  std::vector<std::uint32_t> examples(std::min(static_cast<std::size_t>(job.batch), data.size()));
  std::iota(examples.begin(), examples.end(), 0U);
  return measure_speeds(crew, job, {data.pixels.data(), data.labels.data(), examples}, machine.order);
}

}  // namespace lockstep::train
