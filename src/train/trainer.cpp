#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/float_environment.h"
#include "plan/deal.h"
#include "train/calibrate.h"
#include "train/divergence.h"
#include "train/minibatches.h"
#include "train/plateau.h"
#include "train/replica_error.h"

namespace lockstep::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of the model's weights, if all of them are N(0, sigma).
std::optional<double> sigma_of_weights(const model::Model& model) {
  for (const model::Parameter& parameter : model::parameters_of(model)) {
    if (parameter.role != model::Parameter::Role::weight) continue;
    const auto* const normal = std::get_if<model::Normal>(&parameter.initial);
    if (normal == nullptr || normal->sigma != model.sigma) return std::nullopt;
  }
  return model.sigma;
}

}  // namespace

class Training::Loop {
 public:
  Loop(const Job& job, const data::Split& data, run::Crew& crew, TrainOptions options)
      : job_(job),
        data_(data),
        crew_(crew),
        options_(std::move(options)),
        shares_(shares_for(crew, job, options_.machine, data.train)),
        runner_(make_training_runner(crew, job, with_shares(options_.machine, shares_), data.train.size())),
        evaluator_(crew, job.model, data.test, {.shares = shares_, .training = runner_.get()}),
        use_(static_cast<std::size_t>(crew.size())),
        minibatches_(job.seed, data.train.size(), job.batch),
        scalars_(step_scalars(job, minibatches_.per_epoch())) {
    check_fits(job.model, data.train);
    if (options_.resume) {
      state_ = *options_.resume;
    } else {
      state_.tensors = run::initial_state(
          job.model, job.rule(), options_.start ? *options_.start : initial_weights(job.model, job.seed));
    }
    runner_->upload(state_.tensors);
    runner_->continue_after(state_.step);
  }

  Weights weights() const { return runner_->download(); }

  TrainResult run(const Listeners& listeners) {
    listeners_ = listeners;
    for (Observer* o : listeners_.observers) {
      o->on_start({job_.model.name, job_.epochs, minibatches_.per_epoch(),
                   static_cast<std::int64_t>(data_.train.size()), crew_.names(), state_.epochs, packs(),
                   options_.machine.shares.empty()});
    }
    save();
    bool interrupted = false;
    for (; state_.epoch <= job_.epochs; next_epoch()) {
      interrupted = !train_epoch();
      if (interrupted) break;
    }
    examine();
    save();
    return {runner_->download(), state_.epochs, interrupted, runner_->traces(), use_};
  }

 private:
  // False if a stop was asked for.
  bool train_epoch() {
    const auto from = Clock::now();
    const double before = state_.seconds;
    while (state_.step_in_epoch < minibatches_.per_epoch()) {
      if (options_.stop()) return false;
      train_step();
      state_.seconds = before + seconds_since(from);
      const bool last = state_.step_in_epoch == minibatches_.per_epoch();
      if (options_.checkpoint_every > 0 && state_.step % options_.checkpoint_every == 0 && !last) save();
    }
    examine();
    state_.epochs.push_back(finish_epoch());
    for (Observer* o : listeners_.observers) o->on_epoch(state_.epochs.back());
    warn_of_plateau();
    return true;
  }

  EpochReport finish_epoch() {
    const FloatEnvironment environment;
    EpochReport report;
    report.epoch = state_.epoch;
    report.train_loss = state_.loss_sum / static_cast<double>(data_.train.size());
    report.seconds = state_.seconds;
    evaluate(report);
    return report;
  }

  void warn_of_plateau() {
    PlateauFacts facts{.classes = model::classes_of(job_.model),
                       .steps_per_epoch = minibatches_.per_epoch(),
                       .learning_rate = job_.learning_rate};
    if (!options_.start && !options_.resume) facts.sigma = sigma_of_weights(job_.model);
    const std::string warning = plateau_warning(state_.epochs, facts);
    if (warning.empty()) return;
    for (Observer* o : listeners_.observers) o->on_warning(warning);
  }

  void next_epoch() {
    ++state_.epoch;
    state_.step_in_epoch = 0;
    state_.loss_sum = state_.seconds = 0;
    const bool due = options_.checkpoint_every == 0 || state_.step % options_.checkpoint_every == 0;
    if (due && state_.epoch <= job_.epochs) save();
  }

  void save() {
    if (!listeners_.checkpoint || state_.step == saved_step_) return;
    examine();
    state_.tensors = runner_->state();
    expect_finite_states();
    listeners_.checkpoint(state_);
    saved_step_ = state_.step;
  }

  // Nothing is kept of replicas that differ or are not finite.
  void examine() {
    if (state_.step == examined_step_) return;
    if (const auto finding = runner_->examine_replicas())
      throw replica_error(*finding, job_.model, crew_.names());
    examined_step_ = state_.step;
  }

  // A state may overflow where its parameter does not: Adam's second moment, for one.
  void expect_finite_states() const {
    for (const run::NamedTensor& tensor : state_.tensors) {
      if (std::ranges::all_of(tensor.numbers, [](float number) { return std::isfinite(number); })) continue;
      throw Error(Fault::diverged,
                  "step {}: {} is not finite after its update; nothing of it was saved, try a smaller --lr",
                  state_.step, tensor.name);
    }
  }

  struct ComputedStep {
    StepReport report;
    std::optional<run::ReplicaFinding> finding;
  };

  void train_step() {
    const ComputedStep step = compute_step();
    for (Observer* o : listeners_.observers) o->on_step(step.report);
    if (step.finding) throw replica_error(*step.finding, job_.model, crew_.names());
  }

  ComputedStep compute_step() {
    const FloatEnvironment environment;  // observers have another one, perhaps
    const auto start = Clock::now();
    const std::span<const std::uint32_t> examples = minibatches_.at(state_.epoch, state_.step_in_epoch);
    const device::StepInput input{
        .minibatch = {data_.train.pixels.data(), data_.train.labels.data(), examples},
        .update = scalars_.at(state_.step + 1),
        .step = state_.step + 1,
        .epoch = state_.epoch,
        .seed = job_.seed};
    const run::StepResult result = runner_->step(input);
    if (!result.finite) throw diverged(input);
    ++state_.step;
    ++state_.step_in_epoch;
    state_.loss_sum += static_cast<double>(result.loss) * static_cast<double>(examples.size());
    count(result);
    return {{.epoch = state_.epoch,
             .step = state_.step_in_epoch,
             .global_step = state_.step,
             .examples = static_cast<std::int64_t>(examples.size()),
             .loss = result.loss,
             .learning_rate = static_cast<float>(scalars_.rate(state_.step)),
             .seconds = seconds_since(start),
             .devices = result.devices,
             .packs = result.packs,
             .hashes = result.hashes},
            result.finding};
  }

  void count(const run::StepResult& result) {
    for (std::size_t d = 0; d < use_.size(); ++d) {
      use_[d].packs += result.packs[d];
      use_[d].times.compute += result.devices[d].compute;
      use_[d].times.exchange += result.devices[d].exchange;
      use_[d].times.wait += result.devices[d].wait;
    }
  }

  // Of a whole minibatch, where the devices' packs are not simply equal.
  std::vector<int> packs() const {
    std::vector<int> packs;
    if (shares_.empty()) return packs;
    for (const arithmetic::PackRange& share :
         plan::deal_packs({0, arithmetic::pack_count(job_.batch)}, crew_.size(), shares_))
      packs.push_back(share.size());
    return packs;
  }

  Error diverged(const device::StepInput& input) {
    // The step may have begun with what an update before it left.
    if (const auto finding = runner_->examine_replicas())
      return replica_error(*finding, job_.model, crew_.names());
    return Error(Fault::diverged, "step {}: {}; nothing of this step was kept, try a smaller --lr",
                 state_.step + 1, divergence_text(input));
  }

  std::string divergence_text(const device::StepInput& input) {
    try {
      const Divergence found = find_divergence(crew_.device(0), job_.model, *runner_, input);
      const std::string example =
          found.example < 0
              ? "the sum over the minibatch"
              : fmt::format("example {} of the minibatch (number {} of the training set)", found.example,
                            input.minibatch.examples[static_cast<std::size_t>(found.example)]);
      return fmt::format("{} is not finite, first at {}", found.where, example);
    } catch (const Error& error) {  // a GPU may have no memory left to look
      if (error.fault() != Fault::device) throw;
      return fmt::format("the loss or a gradient is not finite (where it begins is not known: {})",
                         error.what());
    }
  }

  void evaluate(EpochReport& report) {
    const auto start = Clock::now();
    const Evaluation evaluation = evaluator_.evaluate();
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
  run::Crew& crew_;
  const TrainOptions options_;
  const std::vector<double> shares_;
  const std::unique_ptr<run::Runner> runner_;
  Evaluator evaluator_;
  std::vector<DeviceUse> use_;
  Minibatches minibatches_;
  arithmetic::StepScalars scalars_;
  TrainState state_;
  std::int64_t saved_step_ = -1, examined_step_ = -1;
  Listeners listeners_;
};

Training::Training(const Job& job, const data::Split& data, run::Crew& crew, TrainOptions options)
    : loop_([&] {
        const FloatEnvironment environment;  // a program holds numbers that are rounded when it is compiled
        return std::make_unique<Loop>(job, data, crew, std::move(options));
      }()) {}
Training::~Training() = default;

TrainResult Training::run(const Listeners& listeners) { return loop_->run(listeners); }
Weights Training::weights() const { return loop_->weights(); }

TrainResult train(const Job& job, const data::Split& data, run::Crew& crew, const TrainOptions& options,
                  const Listeners& listeners) {
  return Training(job, data, crew, options).run(listeners);
}

TrainResult train(const Job& job, const data::Split& data, device::Device& device,
                  const TrainOptions& options, const Listeners& listeners) {
  run::Crew crew({&device});
  return train(job, data, crew, options, listeners);
}

}  // namespace lockstep::train
