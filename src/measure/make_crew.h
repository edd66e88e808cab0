// Where benches get their devices: who calls them chooses kind, kernels and what to do when one is stuck.
#pragma once
#include <functional>
#include <memory>

#include "run/crew.h"

namespace lockstep::measure {

// A single device of one thread must run where its caller runs.
using MakeCrew = std::function<std::unique_ptr<run::Crew>(int devices, int threads)>;

}  // namespace lockstep::measure
