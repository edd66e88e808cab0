#include <lockstep/train.h>

#include "api/training.h"

namespace lockstep {
inline namespace api {

TrainResult train(const TrainOptions& options) { return run_training(options); }

}  // namespace api
}  // namespace lockstep
