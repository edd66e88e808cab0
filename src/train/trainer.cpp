#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "data/shuffle.h"
#include "program/compile.h"
#include "train/divergence.h"

namespace lockstep::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Loop {
 public:
  Loop(const Job& job, const data::Split& data, device::Device& device, const TrainOptions& options)
      : job_(job),
        data_(data),
        device_(device),
        options_(options),
        runner_(device, program::compile_training(job.model),
                {.most_examples = job.batch, .order = options.order}),
        evaluator_(device, job.model, data.test) {
    check_fits(job.model, data.train);
    runner_.upload(options.start ? *options.start : initial_weights(job.model, job.seed));
  }

  TrainResult run() {
    const auto count = static_cast<std::int64_t>(data_.train.size());
    for (Observer* o : options_.observers) {
      o->on_start(
          {job_.model.name, job_.epochs, (count + job_.batch - 1) / job_.batch, count, {device_.name()}});
    }
    TrainResult result;
    for (int epoch = 1; epoch <= job_.epochs && !result.interrupted; ++epoch) {
      EpochReport report;
      report.epoch = epoch;
      result.interrupted = !train_epoch(report);
      if (result.interrupted) break;
      evaluate(report);
      result.epochs.push_back(report);
      for (Observer* o : options_.observers) o->on_epoch(report);
    }
    result.weights = runner_.download();
    return result;
  }

 private:
  // False if a stop was asked for.
  bool train_epoch(EpochReport& report) {
    const auto start = Clock::now();
    const std::vector<std::uint32_t> order = data::epoch_order(
        job_.seed, static_cast<std::uint32_t>(report.epoch), static_cast<std::uint32_t>(data_.train.size()));
    const auto batch = static_cast<std::size_t>(job_.batch);
    std::int64_t step = 0;
    for (std::size_t first = 0; first < order.size(); first += batch) {
      if (options_.stop()) return false;
      const std::span examples = std::span(order).subspan(first, std::min(batch, order.size() - first));
      const auto step_start = Clock::now();
      const float loss = train_step(examples);
      report.train_loss += static_cast<double>(loss) * static_cast<double>(examples.size());
      const StepReport step_report{report.epoch, ++step,
                                   global_step_, static_cast<std::int64_t>(examples.size()),
                                   loss,         seconds_since(step_start)};
      for (Observer* o : options_.observers) o->on_step(step_report);
    }
    report.train_loss /= static_cast<double>(order.size());
    report.seconds = seconds_since(start);
    return true;
  }

  float train_step(std::span<const std::uint32_t> examples) {
    ++global_step_;
    const device::StepInput input{{data_.train.pixels.data(), data_.train.labels.data(), examples},
                                  job_.learning_rate};
    const run::StepResult result = runner_.step(input);
    if (!result.finite) throw diverged(input);
    return result.loss;
  }

  Error diverged(const device::StepInput& input) {
    const Divergence found = find_divergence(device_, job_.model, runner_, input);
    const std::string example =
        found.example < 0
            ? "the sum over the minibatch"
            : fmt::format("example {} of the minibatch (number {} of the training set)", found.example,
                          input.minibatch.examples[static_cast<std::size_t>(found.example)]);
    return Error(Fault::diverged,
                 "step {}: {} is not finite, first at {}; nothing of this step was kept, try a smaller --lr",
                 global_step_, found.where, example);
  }

  void evaluate(EpochReport& report) {
    const auto start = Clock::now();
    const Evaluation evaluation = evaluator_.evaluate(runner_.download());
    report.test_correct = evaluation.correct();
    report.test_examples = evaluation.examples();
    report.test_loss = evaluation.loss;
    if (!std::isfinite(evaluation.loss)) {
      throw Error(Fault::diverged,
                  "epoch {}: the test loss is not finite after the last update; try a smaller --lr",
                  report.epoch);
    }
    report.evaluation_seconds = seconds_since(start);
  }

  const Job& job_;
  const data::Split& data_;
  device::Device& device_;
  const TrainOptions& options_;
  run::Runner runner_;
  Evaluator evaluator_;
  std::int64_t global_step_ = 0;
};

}  // namespace

TrainResult train(const Job& job, const data::Split& data, device::Device& device,
                  const TrainOptions& options) {
  return Loop(job, data, device, options).run();
}

}  // namespace lockstep::train
