// --optimizer, --momentum, --weight-decay, --beta1, --beta2, --eps, --schedule, --step-epochs, --step-factor,
// --lr-min and --warmup, for every command that trains.
#pragma once
#include <string>
#include <vector>

#include "arithmetic/optimizer.h"
#include "arithmetic/schedule.h"

namespace CLI {
class App;
}

namespace lockstep::app {

struct UpdateFlags {
  arithmetic::OptimizerRequest optimizer = {};
  arithmetic::ScheduleRequest schedule = {};
};

// Adds the options, under this heading of the help or the usual one. A name that is none is Error(usage) with
// the nearest, a text that is no number is Error(usage). Requires: `flags` outlives `parser`.
void add_update_options(CLI::App& parser, UpdateFlags& flags, const std::string& group = {});

// The options that were given, by their names.
std::vector<std::string> given_options(const UpdateFlags& flags);

// What was asked for, over what is there. Another optimizer or schedule than the one that is there begins
// with its own usual numbers. Throws Error(usage), which names the option, for what does not go together.
arithmetic::Optimizer optimizer_of(const UpdateFlags& flags, const arithmetic::Optimizer& there = {});
arithmetic::Schedule schedule_of(const UpdateFlags& flags, const arithmetic::Schedule& there = {});

}  // namespace lockstep::app
