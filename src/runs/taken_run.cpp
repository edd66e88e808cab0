#include "runs/taken_run.h"

#include "base/error.h"

namespace lockstep::runs {

TakenRun take_up(const std::filesystem::path& run, const store::TensorsOf& tensors_of) {
  auto lock = std::make_unique<store::RunLock>(run);
  return {run, std::move(lock), store::read_newest_checkpoint(run, tensors_of)};
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
