#include "step_memory.h"

#include "run/memory_plans.h"
#include "train/check_groups.h"

namespace lockstep::app {

StepMemory memory_of_step(run::Crew& crew, const train::Job& job, const train::Machine& machine) {
  train::check_groups(job.model, job.batch, static_cast<std::size_t>(job.batch));
  const run::Programs programs =
      train::training_programs(job, train::data_plan(machine, crew.ranks(), crew.shares_cores()));
  const run::RunnerOptions options{.most_examples = job.batch, .order = machine.order};
  StepMemory memory{.programs = programs.make(arithmetic::pack_count(job.batch)), .plans = {}};
  memory.plans = run::memory_plans(crew, memory.programs, run::load_options(crew, programs, options));
  return memory;
}

}  // namespace lockstep::app
