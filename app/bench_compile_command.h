// `lockstep bench compile`: how long it takes to make the lists of all ranks.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

// A command of `lockstep bench`.
std::unique_ptr<Command> make_bench_compile_command();

}  // namespace lockstep::app
