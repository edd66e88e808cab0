#include "audit/diff.h"

#include <algorithm>

#include "base/error.h"

namespace lockstep::audit {
namespace {

std::int64_t last_step(const store::HashRecord& record) {
  return record.steps.empty() ? 0 : record.steps.back();
}

// Where a replay to `step` begins: the newest checkpoint before it, else the run's beginning.
train::TrainState nearest(const RecordedRun& run, std::int64_t step) {
  const train::TrainState* best = nullptr;
  for (const train::TrainState& state : run.states) {
    if (state.step < step && (best == nullptr || state.step >= best->step)) best = &state;
  }
  if (best != nullptr) return *best;
  if (!run.start)
    throw Error(
        Fault::usage,
        "{}: it began with loaded weights, and no checkpoint from before step {} is left to replay it from",
        run.name, step);
  return {.tensors = run::initial_state(run.job.model, run.job.rule(), *run.start)};
}

struct Replayed {
  train::Weights weights;                                  // after the step
  std::optional<store::RecordDifference> not_as_recorded;  // the first
};

Replayed replay(const RecordedRun& run, std::int64_t step, const data::Dataset& data, run::Crew& crew) {
  train::Stepper stepper(crew, run.job, {.record = true}, data);
  stepper.start(nearest(run, step));
  Replayed replayed;
  while (stepper.steps() < step) {
    const run::StepResult result = stepper.step();
    const std::vector<Hash128>* const recorded = store::row_of(run.record, stepper.steps());
    if (recorded == nullptr || replayed.not_as_recorded) continue;
    const auto [found, _] = std::ranges::mismatch(result.hashes, *recorded);
    if (found != result.hashes.end())
      replayed.not_as_recorded = {stepper.steps(), static_cast<std::size_t>(found - result.hashes.begin())};
  }
  replayed.weights = stepper.runner().download();
  return replayed;
}

}  // namespace

DiffResult diff(const RecordedRun& a, const RecordedRun& b, const data::Dataset& data,
                const std::function<std::unique_ptr<run::Crew>()>& make_crew) {
  if (a.record.tensors != b.record.tensors)
    throw Error(Fault::usage, "{} and {} recorded different tensors; they train different models", a.name,
                b.name);
  DiffResult result;
  const std::vector<std::int64_t> steps = store::common_steps(a.record, b.record);
  if (steps.empty()) throw Error(Fault::usage, "{} and {} have no recorded step in common", a.name, b.name);
  result.steps = static_cast<std::int64_t>(steps.size());
  // Steps that a record lacks before it begins or after it ends are no holes in it.
  const std::int64_t first = std::max(a.record.steps.front(), b.record.steps.front());
  const std::int64_t last = std::min(last_step(a.record), last_step(b.record));
  result.not_compared = last - first + 1 - result.steps;
  result.last_a = last_step(a.record);
  result.last_b = last_step(b.record);
  result.parting = store::first_difference(a.record, b.record);
  if (!result.parting) return result;

  std::vector<train::Weights> weights;
  for (const RecordedRun* run : {&a, &b}) {
    const std::unique_ptr<run::Crew> crew = make_crew();
    Replayed replayed = replay(*run, result.parting->step, data, *crew);
    if (replayed.not_as_recorded) result.unreproduced.push_back({run->name, *replayed.not_as_recorded});
    weights.push_back(std::move(replayed.weights));
  }
  if (result.unreproduced.empty())
    result.element =
        first_difference(model::state_tensors(a.job.model, a.job.rule()), weights[0], weights[1]);
  return result;
}

}  // namespace lockstep::audit
