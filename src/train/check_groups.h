// Which minibatches a network can be trained with whose examples depend on each other.
#pragma once
#include <cstddef>

#include "model/model.h"

namespace lockstep::train {

// Throws Error(usage) that names the layer if, in an epoch of these examples, a batch norm's group is
// larger than the minibatch or has one value for each channel: a single value has no variance.
void check_groups(const model::Model& model, int batch, std::size_t examples);

}  // namespace lockstep::train
