// The memory of a rank, for people.
#pragma once
#include <string>

#include "program/memory_plan.h"
#include "program/program.h"

namespace lockstep::app {

// Bytes by class and how long they are needed, the peak, then the places that several buffers share.
std::string plan_text(const program::Program& program, const program::MemoryPlan& plan);

}  // namespace lockstep::app
