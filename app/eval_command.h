// `lockstep eval`: how good saved weights are on the test set.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

std::unique_ptr<Command> make_eval_command();

}  // namespace lockstep::app
