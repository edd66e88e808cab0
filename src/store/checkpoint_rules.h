// What holds for every checkpoint a run can write.
#pragma once
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/checkpoint.h"

namespace lockstep::store {

// Throws Error(fault) naming `file`, the key or tensor, what was expected and found: a place that no training
// of this job passes, losses and times that are not finite, epochs that do not follow each other, and what
// check_data() refuses if the config has the data's sizes. Tensors are not looked at.
void check_rules(const Checkpoint& checkpoint, Fault fault, std::string_view file);

// Throws Error(fault), as above, where steps or examples are not those of data of these sizes.
void check_data(const Checkpoint& checkpoint, const DataSizes& sizes, Fault fault, std::string_view file);

// Throws Error(data) naming `file`, the first tensor that is not the expected one, and why it is expected.
void check_tensors(const std::vector<TensorShape>& found, const ExpectedTensors& expected,
                   std::string_view file);

}  // namespace lockstep::store
