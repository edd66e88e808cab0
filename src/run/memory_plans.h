// What the programs of a run take of each device's memory, before anything is loaded.
#pragma once
#include <vector>

#include "device/device.h"
#include "program/memory_plan.h"
#include "run/runner.h"

namespace lockstep::run {

// How a runner loads the programs of a crew's devices for its largest minibatch, by device; the parameters
// are the device's own.
std::vector<device::LoadOptions> load_options(const Crew& crew, const Programs& programs,
                                              const RunnerOptions& options);

// By device of the crew. `programs` are those of all ranks. Allocates nothing.
std::vector<program::MemoryPlan> memory_plans(Crew& crew, const std::vector<program::Program>& programs,
                                              const std::vector<device::LoadOptions>& options);

// Throws Error(device) that says what is needed, by class, and what is free, if the plans do not fit. Devices
// that share a memory have to fit into it together.
void check_memory(Crew& crew, const std::vector<program::MemoryPlan>& plans, program::Purpose purpose);

}  // namespace lockstep::run
