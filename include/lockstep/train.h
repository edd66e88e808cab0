// Training.
#pragma once
#include <lockstep/train_options.h>

namespace lockstep {
inline namespace api {

// Throws Error: usage for an option beyond its limits, data the model does not take or a run of another job,
// data for a run that cannot be read, device for what this host does not have or a device that fails or is
// stuck, diverged naming step and layer when a number is no longer finite, verification naming step, tensor
// and devices when the devices' replicas are no longer equal.
TrainResult train(const TrainOptions& options);

}  // namespace api
}  // namespace lockstep
