// `lockstep plan`: what a step takes of each device's memory, before anything is allocated.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

std::unique_ptr<Command> make_plan_command();

}  // namespace lockstep::app
