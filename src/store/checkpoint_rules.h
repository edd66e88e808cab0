// What holds for every checkpoint a run can write.
#pragma once
#include <string_view>

#include "base/error.h"
#include "store/checkpoint.h"

namespace lockstep::store {

// In front of a parameter's name: its velocity.
constexpr std::string_view kVelocityPrefix = "velocity:";

// Throws Error(fault) naming `file`, the key or tensor, what was expected and found: counts and times below
// 0, epochs that do not follow each other, velocity that does not belong to the parameters.
void check_rules(const Checkpoint& checkpoint, Fault fault, std::string_view file);

}  // namespace lockstep::store
