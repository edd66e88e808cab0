// `lockstep bench exchange`: how long sums travel between devices.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

// A command of `lockstep bench`.
std::unique_ptr<Command> make_bench_exchange_command();

}  // namespace lockstep::app
