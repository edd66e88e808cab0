// lockstep devices: what this machine has to compute with.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

std::unique_ptr<Command> make_devices_command();

}  // namespace lockstep::app
