// How the work was divided among devices, and what became of their time.
#pragma once
#include <string>

#include "train/observer.h"

namespace lockstep::report {

// "shares: cpu:0 11 packs, opencl:0 5 packs (calibrated)", ended by a newline; empty where shares are simply
// equal.
std::string shares_line(const train::RunStart& start);

// For stderr: a line a device with its share of the packs and its seconds. Empty for CPU devices alone, whose
// shares and speeds are equal.
std::string device_use(const train::RunEnd& end);

}  // namespace lockstep::report
