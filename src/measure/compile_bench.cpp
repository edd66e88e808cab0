#include "measure/compile_bench.h"

#include <array>
#include <functional>
#include <vector>

#include "measure/residual_network.h"
#include "measure/turns.h"
#include "program/compile.h"
#include "program/data_parallel.h"
#include "program/looks.h"
#include "program/order.h"

namespace lockstep::measure {
namespace {

using program::Program;

std::size_t instructions_in(const std::vector<Program>& programs) {
  std::size_t count = 0;
  for (const Program& program : programs) {
    count += program.exchange.size();
    for (const program::Segment& segment : program.segments) count += segment.instructions.size();
  }
  return count;
}

// As a Runner gets them: checked.
std::size_t compile_all(const model::Model& model, int devices, int packs) {
  const program::DataPlan plan{.ranks = devices};
  const Program step = program::compile_training(model, {.rule = arithmetic::UpdateKind::momentum});
  const std::vector<Program> whole = program::data_parallel(step, plan, packs);
  const std::array<std::vector<Program>, 4> sets{
      whole, program::data_parallel(step, plan, 1),
      program::data_parallel(program::compile_evaluation(model), plan, packs),
      program::examination_of(whole)};
  std::size_t count = 0;
  for (const std::vector<Program>& set : sets) {
    program::check_order(set);
    count += instructions_in(set);
  }
  return count;
}

}  // namespace

CompileFigure bench_compile(const CompileBenchOptions& options) {
  const model::Model model = residual_network(options.blocks);
  CompileFigure figure;
  figure.devices = options.devices;
  figure.layers = 2 * options.blocks + 2;
  const std::array<std::function<void()>, 1> runs{[&] {
    figure.instructions = compile_all(model, options.devices, arithmetic::pack_count(options.examples));
  }};
  figure.seconds = spread_of(sample_in_turns(options.pace, runs)[0]);
  return figure;
}

}  // namespace lockstep::measure
