#include "api/kept_run.h"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "api/convert.h"
#include "api/dataset_inside.h"
#include "arithmetic/convolution_rule.h"
#include "base/error.h"
#include "model/example_groups.h"
#include "model/text.h"
#include "model/zoo.h"
#include "runs/run_config_file.h"
#include "runs/run_data.h"
#include "train/checkpoint.h"

namespace lockstep {
inline namespace api {
namespace {

namespace fs = std::filesystem;

// Of a model that is Lockstep's own: the ghost of its batch norms, 0 without one. Else nothing.
std::optional<int> ghost_of_own(const model::Model& model) {
  const std::vector<std::string> names = model::zoo_names();
  if (std::ranges::find(names, model.name) == names.end()) return std::nullopt;
  const std::vector<model::ExampleGroups> groups = model::example_groups_of(model);
  const int ghost = groups.empty() ? 0 : static_cast<int>(groups.front().examples);
  try {
    model::Model own = model::zoo_model(model.name, {model.input, model::classes_of(model)});
    if (ghost != 0 && !model::example_groups_of(own).empty()) model::set_ghost(own, ghost);
    if (model::text_of(own) == model::text_of(model)) return ghost;
  } catch (const Error&) {
    // Lockstep's own does not take such pictures, so this is another.
  }
  return std::nullopt;
}

std::string hash_of_layers(const model::Model& model) {
  const std::string text = model::text_of(model);
  return to_hex(hash128(std::as_bytes(std::span(text))));
}

// Throws unless both jobs give the same bits, but for how long they go on.
void expect_same_job(const store::JobConfig& kept, const store::JobConfig& asked, const fs::path& run) {
  const auto compare = [&](std::string_view option, const auto& expected, const auto& found) {
    if (expected != found)
      throw Error(Fault::usage, "{}: expected {} as {} says, found {}", option, expected, run.string(),
                  found);
  };
  compare("model", kept.model, asked.model);
  if (kept.layers != asked.layers)
    throw Error(Fault::usage, "model: {} was trained with other layers of a model '{}'", run.string(),
                kept.model);
  compare("convolution", arithmetic::name_of(kept.convolution), arithmetic::name_of(asked.convolution));
  compare("ghost", kept.ghost, asked.ghost);
  compare("batch", kept.batch, asked.batch);
  compare("lr", kept.lr, asked.lr);
  compare("optimizer", arithmetic::update_rule(kept.optimizer.kind).name,
          arithmetic::update_rule(asked.optimizer.kind).name);
  compare("momentum", kept.optimizer.momentum, asked.optimizer.momentum);
  compare("weight_decay", kept.optimizer.weight_decay, asked.optimizer.weight_decay);
  compare("beta1", kept.optimizer.beta1, asked.optimizer.beta1);
  compare("beta2", kept.optimizer.beta2, asked.optimizer.beta2);
  compare("eps", kept.optimizer.eps, asked.optimizer.eps);
  compare("schedule", arithmetic::name_of(kept.schedule.kind), arithmetic::name_of(asked.schedule.kind));
  compare("step_epochs", kept.schedule.step_epochs, asked.schedule.step_epochs);
  compare("step_factor", kept.schedule.step_factor, asked.schedule.step_factor);
  compare("lr_min", kept.schedule.lr_min, asked.schedule.lr_min);
  compare("warmup", kept.schedule.warmup, asked.schedule.warmup);
  compare("seed", kept.seed, asked.seed);
  if (!asked.load.empty()) compare("start: the hash of the weights", kept.load, asked.load);
}

train::TrainState state_of(const runs::TakenRun& taken, const model::Model& model,
                           const store::DataSizes& sizes) {
  return train::state_of(taken.found.checkpoint, model, sizes, taken.found.file.string());
}

// What config.toml says of these options. The names of the devices follow when the devices are made.
store::RunConfig config_of(const TrainOptions& options, const train::Job& job) {
  const Dataset::Inside& data = options.data.inside();
  const std::optional<int> ghost = ghost_of_own(job.model);
  return {
      .job = {.model = job.model.name,
              .layers = ghost ? "" : hash_of_layers(job.model),
              .data = to_hex(data::hash_of(data.split)),
              .data_sizes = train::sizes_of(data.split),
              .seed = job.seed,
              .batch = options.batch,
              .lr = job.learning_rate,
              .optimizer = job.optimizer,
              .schedule = job.schedule,
              .epochs = job.epochs,
              .convolution = job.model.convolution,
              .ghost = ghost.value_or(0),
              .load = options.start ? to_hex(train::hash_of(to_inside(*options.start, job.model))) : ""},
      .machine = {
          .shares = options.shares,
          .threads = options.threads,
          .exchange = options.exchange.empty() ? store::MachineConfig{}.exchange : options.exchange,
          .shard_optimizer = options.shard_optimizer,
          .timeout = options.timeout,
          .data_directory = data.directory.empty() ? "" : runs::kept_data_directory(data.directory, "data")}};
}

}  // namespace

KeptRun::KeptRun(const TrainOptions& options, const train::Job& job)
    : directory_(options.run), model_(job.model), record_(options.record), config_(config_of(options, job)) {
  std::error_code ignored;  // what cannot be looked at fails when it is opened
  const bool resumes = options.begin == Begin::resume ||
                       (options.begin == Begin::resume_or_anew && fs::exists(directory_, ignored));
  if (!resumes) {
    store::expect_new_directory(directory_);
    return;
  }
  // Checkpoints of another job would seem damaged.
  if (const auto config = runs::config_of_run(directory_))
    expect_same_job(config->job, config_.job, directory_);
  taken_ = runs::take_up(directory_,
                         [&](const store::JobConfig& kept) { return train::tensors_of(model_, kept); });
  store::JobConfig kept = taken_->found.checkpoint.config.job;
  expect_same_job(kept, config_.job, directory_);
  runs::expect_data(kept, options.data.inside().split,
                    {.directory = "data",
                     .said_by = taken_->found.file.string(),
                     .remedy = "give the data that the run was trained on"});
  runs::expect_epochs_left(*taken_, job.epochs, "epochs");
  config_.job.load = kept.load;
}

std::optional<train::TrainState> KeptRun::state() const {
  if (!taken_) return std::nullopt;
  return state_of(*taken_, model_, config_.job.data_sizes);
}

std::vector<std::string> KeptRun::open(const std::vector<std::string>& devices) {
  config_.machine.devices = devices;
  const runs::RunFilesOptions options{.out = directory_, .record = record_};
  if (!taken_) {
    files_ = std::make_unique<runs::RunFiles>(options, model_, config_);
    return {};
  }
  std::vector<std::string> lines;
  for (const store::SkippedCheckpoint& one : taken_->found.skipped) lines.push_back("skipped " + one.why);
  const train::TrainState state = state_of(*taken_, model_, config_.job.data_sizes);
  files_ = std::make_unique<runs::RunFiles>(runs::RunFiles::Taken{directory_, std::move(taken_->lock), state},
                                            options, model_, config_);
  for (const fs::path& kept : store::set_aside(taken_->found.skipped))
    lines.push_back("kept the skipped checkpoint as " + kept.string());
  std::string missing = files_->missing_rows();
  if (!missing.empty()) {
    missing.pop_back();  // its end
    lines.push_back(missing);
  }
  return lines;
}

}  // namespace api
}  // namespace lockstep
