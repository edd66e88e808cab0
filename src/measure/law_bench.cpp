#include "measure/law_bench.h"

#include <array>
#include <functional>

#include "measure/exchange_work.h"
#include "measure/training_step.h"
#include "measure/turns.h"
#include "measure/unordered_crew.h"
#include "measure/unordered_exchange.h"
#include "model/zoo.h"

namespace lockstep::measure {
namespace {

namespace exchange = program::exchange;
using Emit = decltype(run::RunnerOptions::emit);

// The same emitter, which also says how much its lists copy.
Emit counted(Emit emit, std::size_t& bytes) {
  return [emit = std::move(emit), &bytes](const exchange::Setting& setting,
                                          std::span<const exchange::Shard> shards) {
    std::vector<exchange::List> lists = emit(setting, shards);
    bytes = bytes_in_all(work_of(lists));
    return lists;
  };
}

}  // namespace

LawFigure bench_law(const LawBenchOptions& options) {
  const model::Model model = model::lenet();
  const SyntheticMinibatch minibatch(model.input, model::classes_of(model), options.examples);
  LawFigure figure;
  figure.devices = options.devices;
  TrainingStep by_law(options.make_crew(options.devices, 1), model, minibatch,
                      {.emit = counted(exchange::emit, figure.bytes_by_law)});
  TrainingStep unordered(make_unordered_crew(options.make_crew(options.devices, 1), options.kernels), model,
                         minibatch, {.emit = counted(emit_unordered, figure.bytes_unordered)});
  const std::array<std::function<void()>, 2> runs{[&] { by_law.run(); }, [&] { unordered.run(); }};
  const std::vector<std::vector<double>> samples = sample_in_turns(options.pace, runs);
  figure.by_law = spread_of(samples[0]);
  figure.unordered = spread_of(samples[1]);
  figure.ratio = ratio_of(samples[0], samples[1]);
  return figure;
}

}  // namespace lockstep::measure
