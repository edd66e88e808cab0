// lockstep sweep: the book's exercise on learning rate and number of devices.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

std::unique_ptr<Command> make_sweep_command();

}  // namespace lockstep::app
