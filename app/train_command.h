// `lockstep train`: a run from start to saved weights.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

std::unique_ptr<Command> make_train_command();

}  // namespace lockstep::app
