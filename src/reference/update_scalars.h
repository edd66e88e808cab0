// The naive twin of arithmetic/step_scalars.h: every step's scalars from the beginning.
#pragma once
#include <cstdint>

#include "arithmetic/optimizer.h"
#include "arithmetic/schedule.h"

namespace lockstep::reference {

// A job's update, and the length of its training.
struct UpdateOptions {
  arithmetic::Optimizer optimizer = {};
  arithmetic::Schedule schedule = {};
  float learning_rate = 0;
  std::int64_t steps_per_epoch = 1;
  int epochs = 1;
};

// Of step t, counted from 1.
double learning_rate(const UpdateOptions& options, std::int64_t t);
arithmetic::UpdateScalars update_scalars(const UpdateOptions& options, std::int64_t t);

}  // namespace lockstep::reference
