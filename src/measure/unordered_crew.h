// Devices for the lists of unordered_exchange.h.
#pragma once
#include <memory>

#include "cpu/kernels.h"
#include "run/crew.h"

namespace lockstep::measure {

// The devices of `crew`, which also run the joins that only add. Requires: one thread a device; kernels
// outlive it.
std::unique_ptr<run::Crew> make_unordered_crew(std::unique_ptr<run::Crew> crew, const cpu::Kernels& kernels);

}  // namespace lockstep::measure
