// What a training says when its replicas part or an update overflowed.
#pragma once
#include <string>
#include <vector>

#include "base/error.h"
#include "model/model.h"
#include "run/replicas.h"

namespace lockstep::train {

// `devices`: the names of all, in the crew's order.
Error replica_error(const run::ReplicaFinding& finding, const model::Model& model,
                    const std::vector<std::string>& devices);

}  // namespace lockstep::train
