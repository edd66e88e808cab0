// lockstep verify: one job under many settings.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

std::unique_ptr<Command> make_verify_command();

}  // namespace lockstep::app
