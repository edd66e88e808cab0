// The devices that benches run on.
#pragma once
#include <memory>

#include "run/crew.h"

namespace lockstep::app {

// cpu:0, cpu:1, ...
std::unique_ptr<run::Crew> make_bench_crew(int devices, int threads);

}  // namespace lockstep::app
