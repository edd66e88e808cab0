// What holds for every checkpoint a run can write.
#pragma once
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/checkpoint.h"

namespace lockstep::store {

// In front of a parameter's name: its velocity.
constexpr std::string_view kVelocityPrefix = "velocity:";

// Throws Error(fault) naming `file`, the key or tensor, what was expected and found: a place that no training
// of this job passes, losses and times that are not finite, epochs that do not follow each other, velocity
// that does not belong to the parameters, and what check_data() refuses if the config has the data's sizes.
// Values of tensors are not looked at.
void check_rules(const Checkpoint& checkpoint, Fault fault, std::string_view file);

// Throws Error(fault), as above, where steps or examples are not those of data of these sizes.
void check_data(const Checkpoint& checkpoint, const DataSizes& sizes, Fault fault, std::string_view file);

// Throws Error(data) naming `file` and the tensor unless these are the parameters.
void check_parameters(const Checkpoint& checkpoint, const std::vector<TensorShape>& expected,
                      std::string_view file);

}  // namespace lockstep::store
