#include "measure/scaling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "cpu/cores.h"
#include "measure/stopwatch.h"
#include "measure/training_step.h"

namespace lockstep::measure {
namespace {

// In the order of the turns.
enum Row : std::size_t { independent, threads, devices, many_devices, kRows };
constexpr std::array kRatios{std::pair{threads, independent}, std::pair{devices, independent},
                             std::pair{devices, threads}, std::pair{many_devices, threads}};

std::string plural(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

double steps_per_second(TrainingStep& step, int steps) {
  const Stopwatch watch;
  for (int i = 0; i < steps; ++i) step.run();
  return steps / watch.seconds();
}

class Scaling {
 public:
  explicit Scaling(const ScalingOptions& options)
      : options_(options),
        minibatch_(options.model.input, model::classes_of(options.model), options.examples) {
    if (cores_.count() < options.cores) {
      throw Error(Fault::usage, "scaling to {} cores needs as many, this process may use {}", options.cores,
                  cores_.count());
    }
    for (int core = 0; core < options.cores; ++core) alone_.push_back(make_step(1, 1));
    together_[threads] = make_step(1, options.cores);
    together_[devices] = make_step(options.cores, 1);
    together_[many_devices] = make_step(options.many_devices, 1);
    alone_[0]->run();
    const Stopwatch watch;
    alone_[0]->run();
    steps_ = std::max(1, static_cast<int>(std::ceil(options.pace.window / watch.seconds())));
  }

  ScalingFigure measure() {
    std::array<std::vector<double>, kRows> rates;
    const Stopwatch watch;
    for (int round = 0; round < options_.pace.fewest_rounds || watch.seconds() < options_.pace.seconds;
         ++round) {
      rates[independent].push_back(independent_turn());
      for (const Row row : {threads, devices, many_devices}) rates[row].push_back(turn(*together_[row]));
    }
    const std::array<std::string, kRows> names{plural(options_.cores, "independent run"),
                                               "1 device x " + plural(options_.cores, "thread"),
                                               plural(options_.cores, "device") + " x 1 thread",
                                               plural(options_.many_devices, "device") + " x 1 thread"};
    ScalingFigure figure{options_.cores, {}, {}};
    for (std::size_t row = 0; row < kRows; ++row)
      figure.settings.push_back({names[row], spread_of(rates[row])});
    for (const auto& [of, to] : kRatios)
      figure.ratios.push_back({names[of], names[to], ratio_of(rates[of], rates[to])});
    return figure;
  }

 private:
  std::unique_ptr<TrainingStep> make_step(int device_count, int thread_count) const {
    return std::make_unique<TrainingStep>(options_.make_crew(device_count, thread_count), options_.model,
                                          minibatch_);
  }

  // The first step of a turn warms the cache up and is not counted, here and below.
  double turn(TrainingStep& step) const {
    step.run();
    return steps_per_second(step, steps_ * options_.cores);
  }

  double independent_turn() const {
    std::vector<std::future<double>> rates;
    rates.reserve(alone_.size());
    for (int core = 0; core < options_.cores; ++core) {
      rates.push_back(std::async(std::launch::async, [this, core] {
        cores_.bind(core);
        TrainingStep& step = *alone_[static_cast<std::size_t>(core)];
        step.run();  // takes far longer than starting threads does, so what follows runs side by side
        return steps_per_second(step, steps_);
      }));
    }
    double sum = 0;
    for (std::future<double>& rate : rates) sum += rate.get();
    return sum;
  }

  const ScalingOptions options_;
  const cpu::Cores cores_;
  const SyntheticMinibatch minibatch_;
  std::vector<std::unique_ptr<TrainingStep>> alone_;
  std::array<std::unique_ptr<TrainingStep>, kRows> together_;
  int steps_ = 1;  // of an independent run in one turn
};

}  // namespace

ScalingFigure measure_scaling(const ScalingOptions& options) { return Scaling(options).measure(); }

}  // namespace lockstep::measure
