// lockstep diff: where two runs part.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

std::unique_ptr<Command> make_diff_command();

}  // namespace lockstep::app
