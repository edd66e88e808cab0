// The scalars of each step's update, formed in double and rounded once (docs/arithmetic.md, "Update").
#pragma once
#include <cstdint>

#include "arithmetic/optimizer.h"
#include "arithmetic/schedule.h"

namespace lockstep::arithmetic {

class StepScalars {
 public:
  // Throws Error(usage) if the schedule does not fit the training: see expect_fits().
  StepScalars(const Optimizer& optimizer, const Schedule& schedule, float learning_rate,
              const TrainingLength& length);

  // Steps count from 1. The powers of the betas go on from the last step that was asked for, or are made
  // again if this one lies before it.
  UpdateScalars at(std::int64_t step);

  // The schedule's, before Adam's correction.
  double rate(std::int64_t step) const { return rate_at(schedule_, learning_rate_, length_, step); }

 private:
  void make_powers(std::int64_t step);

  const Optimizer optimizer_;
  const Schedule schedule_;
  const float learning_rate_;
  const TrainingLength length_;
  std::int64_t powers_of_ = 0;  // the step whose powers these are
  double power1_ = 1, power2_ = 1;
};

}  // namespace lockstep::arithmetic
