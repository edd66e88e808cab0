// Which numbers of a pack outlive the segment that makes them.
#pragma once
#include <vector>

#include "program/program.h"

namespace lockstep::program {

// By buffer: is it used by more than one segment over packs, or does an exchange send or receive it? An
// activation that is needs a place for every pack of the device.
std::vector<bool> crosses_segments(const Program& program);

}  // namespace lockstep::program
