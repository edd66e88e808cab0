#include "api/training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/convert.h"
#include "api/dataset_inside.h"
#include "api/devices.h"
#include "api/drive.h"
#include "api/kept_run.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "base/nearest.h"
#include "train/trainer.h"

namespace lockstep {
inline namespace api {
namespace {

constexpr int kMostBatch = 1'000'000;

Epoch epoch_of(const train::EpochReport& report) {
  const FloatEnvironment environment;
  return {report.epoch, report.train_loss, report.test_loss, report.test_accuracy(), report.seconds};
}

// Tells the caller, on the caller's own thread. Its options may be gone when that thread is.
class Teller final : public train::Observer {
 public:
  Teller(const TrainOptions& options, bool of_steps, Caller& caller, const Moment& moment)
      : options_(options), of_steps_(of_steps), caller_(caller), moment_(moment) {}

  void on_step(const train::StepReport& report) override {
    if (!of_steps_) return;  // a change of threads would cost as much as a small step
    tell(&TrainOptions::on_step, [&] {
      return FinishedStep({report.global_step, report.epoch, double{report.loss}, report.seconds}, moment_);
    });
  }
  void on_epoch(const train::EpochReport& report) override {
    tell(&TrainOptions::on_epoch, [&] { return FinishedEpoch(epoch_of(report), moment_); });
  }
  void on_warning(const std::string& line) override {
    warnings.push_back(line);
    tell(&TrainOptions::on_warning, [&] { return line; });
  }

  std::vector<std::string> warnings;

 private:
  template <class Callback, class News>
  void tell(Callback callback, const News& news) {
    caller_.run([&] {
      if (options_.*callback) (options_.*callback)(news());
    });
  }

  const TrainOptions& options_;
  const bool of_steps_;
  Caller& caller_;
  const Moment& moment_;
};

void expect_limits(const TrainOptions& options) {
  if (options.batch < 1 || options.batch > kMostBatch)
    throw Error(Fault::usage, "batch: expected 1 to {}, found {}", kMostBatch, options.batch);
  if (options.epochs < 1) throw Error(Fault::usage, "epochs: expected at least 1, found {}", options.epochs);
  if (options.lr && (!std::isfinite(*options.lr) || *options.lr <= 0))
    throw Error(Fault::usage, "lr: expected a finite number above 0, found {}", *options.lr);
  expect_timeout(options.timeout);
  if (options.checkpoint_every < 0)
    throw Error(Fault::usage, "checkpoint_every: expected at least 1 step, or 0 for every epoch, found {}",
                options.checkpoint_every);
  if (options.run.empty() && options.begin != Begin::anew)
    throw Error(Fault::usage, "begin: expected a directory in `run` to take up again, found none");
}

// The kind of that name; nothing if there is none.
template <auto kNamed>
auto kind_named(std::string_view option, const std::string& name, const std::vector<std::string>& names) {
  const auto kind = kNamed(name);
  if (!name.empty() && !kind)
    throw Error(Fault::usage, "{}: there is no '{}'{}", option, name, suggestion(name, names));
  return kind;
}

std::string as_it_is(std::string_view option) { return std::string(option); }

arithmetic::Optimizer optimizer_of(const TrainOptions& options) {
  return arithmetic::resolve({.kind = kind_named<arithmetic::update_kind_named>(
                                  "optimizer", options.optimizer, arithmetic::update_kind_names()),
                              .momentum = options.momentum,
                              .weight_decay = options.weight_decay,
                              .beta1 = options.beta1,
                              .beta2 = options.beta2,
                              .eps = options.eps},
                             as_it_is);
}

arithmetic::Schedule schedule_of(const TrainOptions& options) {
  return arithmetic::resolve({.kind = kind_named<arithmetic::schedule_kind_named>(
                                  "schedule", options.schedule, arithmetic::schedule_kind_names()),
                              .step_epochs = options.step_epochs,
                              .step_factor = options.step_factor,
                              .lr_min = options.lr_min,
                              .warmup = options.warmup},
                             as_it_is);
}

void expect_shares(const std::vector<double>& shares, int devices) {
  if (shares.empty()) return;
  if (shares.size() != static_cast<std::size_t>(devices))
    throw Error(Fault::usage, "shares: expected {}, one a device, or none, found {}", devices, shares.size());
  for (const double share : shares) {
    if (!std::isfinite(share) || share <= 0)
      throw Error(Fault::usage, "shares: expected finite numbers above 0, found {}", share);
  }
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

struct Moment::Inside {
  Caller& caller;
  const model::Model& model;
  std::function<run::Weights()> weights;
  bool& stop;
};

Weights Moment::weights() const {
  // Its numbers come from the thread that drives the devices, which the caller may leave behind meanwhile.
  const auto found = std::make_shared<run::Weights>();
  inside_->caller.ask([found, inside = inside_] { *found = inside->weights(); });
  return to_public(*found, inside_->model);
}

void Moment::stop() const { inside_->stop = true; }

namespace {

// All that the thread uses which may be left behind.
struct Work {
  TrainOptions options;  // without callbacks: these belong to the caller
  train::Job job;
  bool tells_steps;

  TrainResult run(Caller& caller, const TrainOptions& callers) const {
    std::optional<KeptRun> kept;
    if (!options.run.empty()) kept.emplace(options, job);
    bool stop = false;
    train::TrainOptions how{.stop = [&] { return stop; }, .checkpoint_every = options.checkpoint_every};
    if (!options.exchange.empty()) how.machine.exchange = &program::exchange::kind_named(options.exchange);
    how.machine.shard_optimizer = options.shard_optimizer;
    how.machine.shares = options.shares;
    how.machine.record = kept && options.record;
    if (kept) how.resume = kept->state();
    if (options.start && !how.resume) how.start = to_inside(*options.start, job.model);
    const std::unique_ptr<run::Crew> crew =
        make_crew(options.devices, options.threads, leaving(caller, options.timeout));
    expect_shares(options.shares, crew->size());
    train::Training training(job, options.data.inside().split, *crew, how);

    const Moment::Inside inside{caller, job.model, [&training] { return training.weights(); }, stop};
    const Moment moment(inside);
    Teller teller(callers, tells_steps, caller, moment);
    train::Listeners listeners;
    if (kept) {
      for (const std::string& line : kept->open(crew->names())) teller.on_warning(line);
      listeners.observers = kept->observers();
      listeners.checkpoint = [&](const train::TrainState& state) { kept->save_checkpoint(state); };
    }
    listeners.observers.push_back(&teller);
    const train::TrainResult trained = training.run(listeners);
    if (kept) kept->finish(trained, crew->names());
    TrainResult result{.devices = crew->names(),
                       .weights = to_public(trained.weights, job.model),
                       .warnings = std::move(teller.warnings),
                       .stopped = trained.interrupted,
                       .run = options.run};
    for (const train::EpochReport& report : trained.epochs) result.epochs.push_back(epoch_of(report));
    return result;
  }
};

TrainOptions without_callbacks(TrainOptions options) {
  options.on_step = nullptr;
  options.on_epoch = nullptr;
  options.on_warning = nullptr;
  return options;
}

}  // namespace

TrainResult run_training(const TrainOptions& options) {
  expect_limits(options);
  const arithmetic::Optimizer optimizer = optimizer_of(options);
  const data::Split& data = options.data.inside().split;
  const train::Job job{
      .model = to_inside(options.model),
      .seed = options.seed,
      .batch = static_cast<int>(std::min(static_cast<std::size_t>(options.batch), data.train.size())),
      .learning_rate = options.lr.value_or(arithmetic::update_rule(optimizer.kind).usual_rate),
      .epochs = options.epochs,
      .optimizer = optimizer,
      .schedule = schedule_of(options)};
  train::check_fits(job.model, data.train);
  train::check_fits(job.model, data.test);
  return drive_to<TrainResult>([work = Work{without_callbacks(options), job, options.on_step != nullptr},
                                &options](Caller& caller) { return work.run(caller, options); });
}

}  // namespace api
}  // namespace lockstep
