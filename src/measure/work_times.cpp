#include "measure/work_times.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "measure/stopwatch.h"
#include "measure/synthetic_minibatch.h"
#include "program/compile.h"
#include "run/runner.h"
#include "train/job.h"

namespace lockstep::measure {
namespace {

constexpr int kStepsBefore = 2;

struct Work {
  std::string name;
  bool exchange = false;
  std::map<std::int64_t, double> seconds;  // by step
};

}  // namespace

std::vector<WorkTime> work_times(run::Crew& crew, const WorkTimesOptions& options) {
  const model::Model& model = options.model;
  const SyntheticMinibatch minibatch(model.input, model::classes_of(model), options.examples);
  run::Runner runner(crew, run::data_parallel(program::compile_training(model), run::plan_for(crew)),
                     {.most_examples = options.examples, .trace = true});
  runner.upload(train::initial_weights(model, 0));
  const Stopwatch watch;
  const int fewest = kStepsBefore + options.pace.fewest_rounds;
  for (int step = 0; step < fewest || (step < options.most_steps && watch.seconds() < options.pace.seconds);
       ++step)
    check(runner.step(minibatch.step_input()).finite, "a step on synthetic examples is not finite");

  std::vector<Work> works;
  const std::vector<run::DeviceTrace> traces = runner.traces();
  for (const run::TraceSpan& span : traces.front().spans) {
    if (span.step <= kStepsBefore || span.lane == run::TraceSpan::Lane::wait) continue;
    const bool exchange = span.lane == run::TraceSpan::Lane::exchange;
    auto work = std::ranges::find_if(
        works, [&](const Work& w) { return w.exchange == exchange && w.name == span.name; });
    if (work == works.end()) work = works.insert(works.end(), {span.name, exchange, {}});
    work->seconds[span.step] += span.end - span.start;
  }
  std::vector<WorkTime> times;
  times.reserve(works.size());
  for (const Work& work : works) {
    std::vector<double> samples;
    samples.reserve(work.seconds.size());
    for (const auto& [step, seconds] : work.seconds) samples.push_back(seconds);
    times.push_back({work.name, work.exchange, spread_of(samples)});
  }
  return times;
}

}  // namespace lockstep::measure
