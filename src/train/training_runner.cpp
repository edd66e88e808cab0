#include "train/training_runner.h"

#include "program/compile.h"

namespace lockstep::train {

std::unique_ptr<run::Runner> make_training_runner(run::Crew& crew, const Job& job, const Machine& machine,
                                                  std::size_t examples) {
  const program::exchange::Kind* const exchange =
      machine.exchange != nullptr ? machine.exchange : &program::exchange::kinds().front();
  std::vector<program::Program> programs;
  programs.reserve(static_cast<std::size_t>(crew.size()));
  for (int device = 0; device < crew.size(); ++device) {
    programs.push_back(
        program::compile_training(job.model, {.rule = job.rule(),
                                              .shard_optimizer = machine.shard_optimizer ? exchange : nullptr,
                                              .device = device,
                                              .devices = crew.size()}));
  }
  return std::make_unique<run::Runner>(
      crew, std::move(programs),
      run::RunnerOptions{.most_examples = job.batch,
                         .last_examples = static_cast<int>(examples % static_cast<std::size_t>(job.batch)),
                         .order = machine.order,
                         .exchange = exchange,
                         .shard_optimizer = machine.shard_optimizer,
                         .record = machine.record,
                         .trace = machine.trace,
                         .shares = machine.shares});
}

}  // namespace lockstep::train
