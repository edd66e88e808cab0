#include "measure/law_bench.h"

#include <array>
#include <functional>

#include "measure/exchange_work.h"
#include "measure/training_step.h"
#include "measure/turns.h"
#include "measure/unordered_exchange.h"
#include "model/zoo.h"

namespace lockstep::measure {
namespace {

// The same programs; says how much they copy.
std::vector<program::Program> counted(std::vector<program::Program> programs, std::size_t& bytes) {
  bytes = bytes_in_all(work_of(programs));
  return programs;
}

}  // namespace

LawFigure bench_law(const LawBenchOptions& options) {
  const model::Model model = model::lenet();
  const SyntheticMinibatch minibatch(model.input, model::classes_of(model), options.examples);
  LawFigure figure;
  figure.devices = options.devices;
  using Programs = std::vector<program::Program>;
  TrainingStep by_law(options.make_crew(options.devices, 1), model, minibatch, {},
                      [&](Programs programs) { return counted(std::move(programs), figure.bytes_by_law); });
  TrainingStep unordered(options.make_crew(options.devices, 1), model, minibatch, {}, [&](Programs programs) {
    return counted(without_order(std::move(programs)), figure.bytes_unordered);
  });
  const std::array<std::function<void()>, 2> runs{[&] { by_law.run(); }, [&] { unordered.run(); }};
  const std::vector<std::vector<double>> samples = sample_in_turns(options.pace, runs);
  figure.by_law = spread_of(samples[0]);
  figure.unordered = spread_of(samples[1]);
  figure.ratio = ratio_of(samples[0], samples[1]);
  return figure;
}

}  // namespace lockstep::measure
