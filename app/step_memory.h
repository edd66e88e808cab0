// The memory that a step of training takes of each device, before anything is allocated.
#pragma once
#include <vector>

#include "program/memory_plan.h"
#include "run/crew.h"
#include "train/training_runner.h"

namespace lockstep::app {

struct StepMemory {
  std::vector<program::Program> programs;  // by rank, of a whole minibatch
  std::vector<program::MemoryPlan> plans;  // by rank
};

// Throws Error(usage) if a batch norm cannot be trained with the job's minibatch.
StepMemory memory_of_step(run::Crew& crew, const train::Job& job, const train::Machine& machine);

}  // namespace lockstep::app
