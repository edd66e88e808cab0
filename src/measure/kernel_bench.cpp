#include "measure/kernel_bench.h"

#include <functional>
#include <memory>

#include "base/error.h"
#include "measure/instruction_work.h"
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

// Segments to time, in the order of the step: the one over packs is replaced by its instructions.
std::vector<std::size_t> segments_to_time(const OneByOne& apart) {
  std::vector<std::size_t> order;
  const std::vector<Segment>& segments = apart.program.segments;
  for (std::size_t i = 0; i < apart.first_single; ++i) {
    if (segments[i].over != Segment::Over::packs) {
      order.push_back(i);
    } else {
      for (std::size_t single = apart.first_single; single < segments.size(); ++single)
        order.push_back(single);
    }
  }
  return order;
}

// All of the segment is timed as one; it multiplies by one algorithm at most.
KernelFigure figure_of(const Segment& segment, int examples, const Timing& time) {
  KernelFigure figure{segment.name, "", 0, time};
  for (const program::Instruction& i : segment.instructions) {
    figure.flops += flops_per_example(i) * examples;
    figure.algorithm = algorithm_name(i);
  }
  return figure;
}

}  // namespace

std::vector<KernelFigure> bench_kernels(const KernelBenchOptions& options, FmaPeak& peak) {
  const OneByOne apart = one_by_one(program::compile_training(options.model));
  const SyntheticMinibatch minibatch(apart.program.input, apart.program.classes, options.examples);
  const std::unique_ptr<run::Crew> crew = options.make_crew(1, 1);
  run::Runner runner(*crew, apart.program, {.most_examples = options.examples});
  runner.upload(train::initial_weights(options.model, 0));
  LoneExchange exchange({*crew, apart.program, {&runner.executable()}, minibatch.step_input()},
                        program::exchange::kinds().front());
  NobodyWatches nobody;
  const auto run = [&](std::size_t segment) {
    if (apart.program.segments[segment].over == Segment::Over::exchange) return exchange.run();
    check(runner.executable().run(segment, minibatch.step_input(), nobody),
          "{} on synthetic examples is not finite", apart.program.segments[segment].name);
  };
  // fill every buffer with what a step leaves there
  for (std::size_t segment = 0; segment < apart.first_single; ++segment) run(segment);

  const std::vector<std::size_t> order = segments_to_time(apart);
  std::vector<std::function<void()>> runs;
  runs.reserve(order.size());
  for (const std::size_t segment : order) runs.emplace_back([&run, segment] { run(segment); });
  const std::vector<Timing> times = take_turns(options.pace, peak, runs);
  std::vector<KernelFigure> figures;
  figures.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    figures.push_back(figure_of(apart.program.segments[order[i]], options.examples, times[i]));
  }
  return figures;
}

}  // namespace lockstep::measure
