// What the programs of a run take of each device's memory, before anything is loaded.
#pragma once
#include <vector>

#include "device/device.h"
#include "program/memory_plan.h"
#include "run/runner.h"

namespace lockstep::run {

// How a runner loads the program of a crew's device for its largest minibatch; the parameters are the
// device's own.
device::LoadOptions load_options(const Crew& crew, int device, const Programs& programs,
                                 const RunnerOptions& options);

// By device of the crew, for a step of the largest minibatch. Allocates nothing.
std::vector<program::MemoryPlan> memory_plans(Crew& crew, const Programs& programs,
                                              const RunnerOptions& options);

}  // namespace lockstep::run
