// Training.
#pragma once
#include <lockstep/train_options.h>

namespace lockstep {
inline namespace api {

// Throws Error: usage for an option beyond its limits or data the model does not take, device for what this
// host does not have, diverged naming step and layer when a number is no longer finite.
TrainResult train(const TrainOptions& options);

}  // namespace api
}  // namespace lockstep
