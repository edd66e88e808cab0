#include "measure/thread_scaling.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <vector>

#include "base/error.h"
#include "measure/core_pinning.h"
#include "measure/stopwatch.h"
#include "measure/training_step.h"
#include "model/zoo.h"

namespace lockstep::measure {
namespace {

double steps_per_second(TrainingStep& step, int steps) {
  const Stopwatch watch;
  for (int i = 0; i < steps; ++i) step.run();
  return steps / watch.seconds();
}

class Scaling {
 public:
  explicit Scaling(const ScalingOptions& options)
      : options_(options),
        cores_(usable_core_numbers()),
        minibatch_(model::lenet().input, model::classes_of(model::lenet()), options.examples) {
    if (cores_.size() < static_cast<std::size_t>(options.threads)) {
      throw Error(Fault::usage,
                  "scaling to {} threads needs a core for each, this process may use {}; try --threads {}",
                  options.threads, cores_.size(), cores_.size());
    }
    cores_.resize(static_cast<std::size_t>(options.threads));
    team_ = std::make_unique<TrainingStep>(options.make_device(options.threads), minibatch_);
    for (std::size_t i = 0; i < cores_.size(); ++i) {
      alone_.push_back(std::make_unique<TrainingStep>(options.make_device(1), minibatch_));
    }
    alone_[0]->run();
    const Stopwatch watch;
    alone_[0]->run();
    steps_ = std::max(1, static_cast<int>(std::ceil(options.pace.window / watch.seconds())));
  }

  ScalingFigure measure() {
    std::vector<double> team, independent, ratio;
    const Stopwatch watch;
    for (int round = 0; round < options_.pace.fewest_rounds || watch.seconds() < options_.pace.seconds;
         ++round) {
      independent.push_back(independent_turn());
      team.push_back(team_turn());
      ratio.push_back(team.back() / independent.back());
    }
    return {options_.threads, spread_of(team), spread_of(independent), spread_of(ratio)};
  }

 private:
  // The first step of a turn warms the cache up and is not counted, here and below.
  double team_turn() {
    team_->run();
    return steps_per_second(*team_, steps_ * options_.threads);
  }

  double independent_turn() {
    std::vector<std::future<double>> rates;
    for (std::size_t i = 0; i < cores_.size(); ++i) {
      rates.push_back(std::async(std::launch::async, [this, i] {
        pin_this_thread(cores_[i]);
        alone_[i]->run();  // takes far longer than starting threads does, so what follows runs side by side
        return steps_per_second(*alone_[i], steps_);
      }));
    }
    double sum = 0;
    for (std::future<double>& rate : rates) sum += rate.get();
    return sum;
  }

  const ScalingOptions options_;
  std::vector<int> cores_;
  const SyntheticMinibatch minibatch_;
  std::unique_ptr<TrainingStep> team_;
  std::vector<std::unique_ptr<TrainingStep>> alone_;
  int steps_ = 1;  // of an independent run in one turn
};

}  // namespace

ScalingFigure measure_scaling(const ScalingOptions& options) { return Scaling(options).measure(); }

}  // namespace lockstep::measure
