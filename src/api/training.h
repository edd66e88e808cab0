// What train() does. It has another name inside, where train is a room.
#pragma once
#include <lockstep/train_options.h>

namespace lockstep {
inline namespace api {

TrainResult run_training(const TrainOptions& options);

}  // namespace api
}  // namespace lockstep
