#include "train/training_runner.h"

#include "program/compile.h"
#include "train/check_groups.h"

namespace lockstep::train {

program::DataPlan data_plan(const Machine& machine, int ranks, bool shares_cores) {
  program::DataPlan plan{.ranks = ranks,
                         .exchange = machine.exchange,
                         .shard_optimizer = machine.shard_optimizer,
                         .shares = machine.shares};
  if (shares_cores) plan.smallest_bucket = run::kOneBucket;
  return plan;
}

run::Programs training_programs(const Job& job, const program::DataPlan& plan) {
  return run::data_parallel(program::compile_training(job.model, {.rule = job.rule()}), plan);
}

std::unique_ptr<run::Runner> make_training_runner(run::Crew& crew, const Job& job, const Machine& machine,
                                                  std::size_t examples) {
  check_groups(job.model, job.batch, examples);
  return std::make_unique<run::Runner>(
      crew, training_programs(job, data_plan(machine, crew.ranks(), crew.shares_cores())),
      run::RunnerOptions{.most_examples = job.batch,
                         .last_examples = static_cast<int>(examples % static_cast<std::size_t>(job.batch)),
                         .order = machine.order,
                         .record = machine.record,
                         .trace = machine.trace});
}

}  // namespace lockstep::train
