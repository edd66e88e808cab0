// `lockstep bench layers`: convolution layers by themselves, fast beside direct.
#pragma once
#include <memory>

#include "command.h"

namespace lockstep::app {

// A command of `lockstep bench`.
std::unique_ptr<Command> make_bench_layers_command();

}  // namespace lockstep::app
