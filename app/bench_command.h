// `lockstep bench`: how fast this machine trains.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

std::unique_ptr<Command> make_bench_command();

}  // namespace lockstep::app
