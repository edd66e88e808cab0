#include "api/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/convert.h"
#include "api/dataset_inside.h"
#include "api/devices.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "train/trainer.h"

namespace lockstep {
inline namespace api {
namespace {

constexpr int kMostBatch = 1'000'000;
constexpr double kLeastTimeout = 1e-6, kMostTimeout = 1e6;  // seconds

Epoch to_public(const train::EpochReport& report) {
  const FloatEnvironment environment;
  return {report.epoch, report.train_loss, report.test_loss, report.test_accuracy(), report.seconds};
}

class Teller final : public train::Observer {
 public:
  explicit Teller(const TrainOptions& options) : options_(options) {}
  void on_epoch(const train::EpochReport& report) override {
    if (options_.on_epoch) options_.on_epoch(to_public(report));
  }
  void on_warning(const std::string& line) override {
    warnings.push_back(line);
    if (options_.on_warning) options_.on_warning(line);
  }

  std::vector<std::string> warnings;

 private:
  const TrainOptions& options_;
};

void expect_limits(const TrainOptions& options) {
  if (options.batch < 1 || options.batch > kMostBatch)
    throw Error(Fault::usage, "batch: expected 1 to {}, found {}", kMostBatch, options.batch);
  if (options.epochs < 1) throw Error(Fault::usage, "epochs: expected at least 1, found {}", options.epochs);
  if (!std::isfinite(options.lr) || options.lr <= 0)
    throw Error(Fault::usage, "lr: expected a finite number above 0, found {}", options.lr);
  if (std::isnan(options.timeout) || options.timeout < kLeastTimeout || options.timeout > kMostTimeout)
    throw Error(Fault::usage, "timeout: expected {} to {} seconds, found {}", kLeastTimeout, kMostTimeout,
                options.timeout);
  if (std::isnan(options.momentum) || options.momentum < 0 || options.momentum >= 1)
    throw Error(Fault::usage, "momentum: expected 0 to below 1, found {}", options.momentum);
}

}  // namespace

double TrainResult::accuracy() const { return epochs.empty() ? 0 : epochs.back().accuracy; }

double TrainResult::seconds_per_epoch() const {
  double seconds = 0;
  for (const Epoch& epoch : epochs) seconds += epoch.seconds;
  return epochs.empty() ? 0 : seconds / static_cast<double>(epochs.size());
}

std::string TrainResult::summary() const {
  return fmt::format("test acc: {:.2f}, {:.1f} sec/epoch on [{}]", accuracy(), seconds_per_epoch(),
                     fmt::join(devices, ", "));
}

TrainResult run_training(const TrainOptions& options) {
  expect_limits(options);
  const data::Split& data = options.data.inside().split;
  const train::Job job{
      .model = to_inside(options.model),
      .seed = options.seed,
      .batch = static_cast<int>(std::min(static_cast<std::size_t>(options.batch), data.train.size())),
      .learning_rate = options.lr,
      .epochs = options.epochs,
      .momentum = options.momentum};
  train::check_fits(job.model, data.train);
  train::check_fits(job.model, data.test);
  train::TrainOptions how;
  if (!options.exchange.empty()) how.machine.exchange = &program::exchange::kind_named(options.exchange);
  if (options.start) how.start = to_inside(*options.start, job.model);
  const Patience patience{
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.timeout)),
      options.on_stuck};
  const std::unique_ptr<run::Crew> crew = make_crew(options.devices, options.threads, patience);
  Teller teller(options);
  const train::TrainResult trained = train::train(job, data, *crew, how, {.observers = {&teller}});
  TrainResult result{{}, crew->names(), to_public(trained.weights, job.model), std::move(teller.warnings)};
  for (const train::EpochReport& report : trained.epochs) result.epochs.push_back(to_public(report));
  return result;
}

}  // namespace api
}  // namespace lockstep
