// `lockstep models`: the models that ship with Lockstep, and one of them layer by layer.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

std::unique_ptr<Command> make_models_command();

}  // namespace lockstep::app
