#include "arithmetic/step_scalars.h"

#include <cmath>

namespace lockstep::arithmetic {
namespace {

float rounded(double value) { return static_cast<float>(value); }

}  // namespace

StepScalars::StepScalars(const Optimizer& optimizer, const Schedule& schedule, float learning_rate,
                         const TrainingLength& length)
    : optimizer_(optimizer), schedule_(schedule), learning_rate_(learning_rate), length_(length) {
  expect_fits(schedule, learning_rate, length);
}

void StepScalars::make_powers(std::int64_t step) {
  if (step < powers_of_) {
    powers_of_ = 0;
    power1_ = power2_ = 1;
  }
  for (; powers_of_ < step; ++powers_of_) {
    power1_ = power1_ * optimizer_.beta1;
    power2_ = power2_ * optimizer_.beta2;
  }
}

UpdateScalars StepScalars::at(std::int64_t step) {
  const double lr = rate(step), decay = optimizer_.weight_decay;
  switch (optimizer_.kind) {
    case UpdateKind::sgd:
    case UpdateKind::momentum:
    case UpdateKind::nesterov:
      return {.learning_rate = rounded(lr), .momentum = optimizer_.momentum, .weight_decay = rounded(decay)};
    case UpdateKind::adam:
    case UpdateKind::adamw:
      break;
  }
  make_powers(step);
  const double root = std::sqrt(1 - power2_);
  return {.learning_rate = rounded(lr * root / (1 - power1_)),
          .weight_decay = rounded(optimizer_.kind == UpdateKind::adamw ? lr * decay : decay),
          .beta1 = rounded(optimizer_.beta1),
          .one_minus_beta1 = rounded(1 - optimizer_.beta1),
          .beta2 = rounded(optimizer_.beta2),
          .one_minus_beta2 = rounded(1 - optimizer_.beta2),
          .eps = rounded(optimizer_.eps * root)};
}

}  // namespace lockstep::arithmetic
