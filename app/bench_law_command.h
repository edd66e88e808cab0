// `lockstep bench law`: what equal bits on any number of devices cost.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

// A command of `lockstep bench`.
std::unique_ptr<Command> make_bench_law_command();

}  // namespace lockstep::app
