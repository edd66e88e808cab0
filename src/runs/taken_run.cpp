#include "runs/taken_run.h"

#include <optional>
#include <sstream>

#include "base/error.h"
#include "runs/run_config_file.h"

namespace lockstep::runs {
namespace {

// Nothing if config.toml is missing or damaged: it is written again.
std::optional<store::JobConfig> recorded_job(const std::filesystem::path& run) {
  try {
    if (const std::optional<store::RunConfig> config = config_of_run(run)) return config->job;
  } catch (const Error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

// Epochs may have been added after the checkpoint, and older ones say less of the data.
void expect_same_job(const store::JobConfig& found, store::JobConfig expected) {
  expected.epochs = found.epochs;
  if (found.data.empty() || expected.data.empty()) expected.data = found.data;
  if (!found.data_sizes.known() || !expected.data_sizes.known()) expected.data_sizes = found.data_sizes;
  if (found == expected) return;
  std::istringstream found_text(store::to_toml({.job = found})), text(store::to_toml({.job = expected}));
  std::string found_line, line;
  while (std::getline(found_text, found_line) && std::getline(text, line) && found_line == line) {
  }
  throw Error(Fault::data, "expected '{}' as the run's config.toml says, found '{}'; is it of another run?",
              line, found_line);
}

}  // namespace

TakenRun take_up(const std::filesystem::path& run, const store::TensorsOf& tensors_of) {
  auto lock = std::make_unique<store::RunLock>(run);
  const std::optional<store::JobConfig> recorded = recorded_job(run);
  const auto tensors_of_recorded = [&](const store::JobConfig& job) {
    if (recorded) expect_same_job(job, *recorded);
    return tensors_of(job);
  };
  return {run, std::move(lock), store::read_newest_checkpoint(run, tensors_of_recorded)};
}

void expect_epochs_left(const TakenRun& taken, int epochs, std::string_view option) {
  const store::Checkpoint& checkpoint = taken.found.checkpoint;
  const int begun = checkpoint.step_in_epoch > 0 ? checkpoint.epoch : checkpoint.epoch - 1;
  if (epochs < begun)
    throw Error(Fault::usage, "{}: {} has begun {} epochs, found {}", option, taken.run.string(), begun,
                epochs);
  const store::JobConfig& job = checkpoint.config.job;
  if (job.schedule.kind == arithmetic::ScheduleKind::cosine && epochs != job.epochs)
    throw Error(Fault::usage,
                "{}: the schedule cosine of {} ends with epoch {}, found {}; leave {} as it was", option,
                taken.run.string(), job.epochs, epochs, option);
}

}  // namespace lockstep::runs
