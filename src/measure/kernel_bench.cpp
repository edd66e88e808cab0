#include "measure/kernel_bench.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "base/error.h"
#include "measure/lone_exchange.h"
#include "measure/one_by_one.h"
#include "measure/synthetic_minibatch.h"
#include "measure/turns.h"
#include "program/compile.h"
#include "run/runner.h"
#include "train/job.h"

namespace lockstep::measure {
namespace {

using program::Segment;

// All of the segment is timed as one; its instructions are of one kind of work, and it multiplies by one
// algorithm at most. The exchange has no instructions of the work's list.
KernelFigure figure_of(const Segment& segment, int examples, const Timing& time) {
  KernelFigure figure{segment.name, "", 0, time};
  if (!segment.instructions.empty()) figure.work = work_kind(segment.instructions.front());
  for (const program::Instruction& i : segment.instructions) {
    figure.flops += flops_per_example(i) * examples;
    figure.algorithm = algorithm_name(i);
  }
  return figure;
}

}  // namespace

std::vector<KernelFigure> bench_kernels(const KernelBenchOptions& options, FmaPeak& peak) {
  const std::unique_ptr<run::Crew> crew = options.make_crew(1, 1);
  run::Runner runner(*crew, run::data_parallel(program::compile_training(options.model), {}),
                     {.most_examples = options.examples});
  const program::Program& program = runner.program();
  const SyntheticMinibatch minibatch(program.input, program.classes, options.examples);
  runner.upload(train::initial_weights(options.model, 0));
  // fill every buffer with what a step leaves there
  check(runner.step(minibatch.step_input()).finite, "a step on synthetic examples is not finite");

  device::Executable& executable = runner.executable();
  NoWatcher no_watcher;
  std::vector<Segment> segments;
  std::vector<std::function<void()>> runs;
  const auto time = [&](const Segment& segment, std::function<void()> run) {
    segments.push_back(segment);
    runs.push_back(std::move(run));
  };
  const auto run_segment = [&](int number, std::size_t segment) {
    return [&, number, segment] {
      executable.begin(number);
      executable.run(segment, minibatch.step_input(), no_watcher);
    };
  };
  LoneExchange exchange({*crew, {program}, {&executable}, 0, minibatch.step_input()});
  // In the order of the step: a segment over packs is replaced by its instructions. The exchange comes behind
  // the last one.
  const auto last_packs = std::ranges::find(program.segments.rbegin(), program.segments.rend(),
                                            Segment::Over::packs, &Segment::over);
  const auto behind = static_cast<std::size_t>(program.segments.rend() - last_packs);
  for (std::size_t s = 0; s < program.segments.size(); ++s) {
    const Segment& segment = program.segments[s];
    if (segment.over == Segment::Over::elements) time(segment, run_segment(0, s));
    if (segment.over != Segment::Over::packs) continue;
    for (const program::Program& single : one_by_one(program, s))
      time(single.segments[0], run_segment(executable.add(single), 0));
    if (s + 1 == behind) time({"exchange", Segment::Over::host, {}}, [&exchange] { exchange.run(); });
  }
  const std::vector<Timing> times = take_turns(options.pace, peak, runs);
  std::vector<KernelFigure> figures;
  figures.reserve(segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i)
    figures.push_back(figure_of(segments[i], options.examples, times[i]));
  return figures;
}

}  // namespace lockstep::measure
