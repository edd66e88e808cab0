#include "arithmetic/step_scalars.h"

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/same_bits_for_test.h"
#include "reference/update_scalars.h"

namespace lockstep::arithmetic {
namespace {

// Every rule with every schedule.
std::vector<reference::UpdateOptions> many_options() {
  const std::vector<Schedule> schedules{
      {},
      {.warmup = 7},
      {.kind = ScheduleKind::step, .step_epochs = 2, .step_factor = 0.3},
      {.kind = ScheduleKind::step, .step_epochs = 1, .step_factor = 0.7, .warmup = 40},
      {.kind = ScheduleKind::cosine},
      {.kind = ScheduleKind::cosine, .lr_min = 0.001, .warmup = 11}};
  std::vector<reference::UpdateOptions> all;
  for (const UpdateRule& rule : kUpdateRules) {
    for (const Schedule& schedule : schedules) {
      all.push_back({.optimizer = {.kind = rule.kind, .weight_decay = 0.03},
                     .schedule = schedule,
                     .learning_rate = 0.1f,
                     .steps_per_epoch = 13,
                     .epochs = 5});
      if (rule.takes_momentum) all.back().optimizer.momentum = 0.9f;
    }
  }
  return all;
}

StepScalars scalars_of(const reference::UpdateOptions& o) {
  return {o.optimizer, o.schedule, o.learning_rate, {o.steps_per_epoch, o.epochs}};
}

auto numbers_of(const UpdateScalars& scalars) { return std::bit_cast<std::array<float, 8>>(scalars); }

TEST(StepScalars, AreTheTwinsInEveryStep) {
  for (const reference::UpdateOptions& options : many_options()) {
    StepScalars scalars = scalars_of(options);
    for (std::int64_t step = 1; step <= 65; ++step)
      ASSERT_THAT(numbers_of(scalars.at(step)),
                  SameBits(numbers_of(reference::update_scalars(options, step))))
          << update_rule(options.optimizer.kind).name << ", " << name_of(options.schedule.kind) << ", step "
          << step;
  }
}

TEST(StepScalars, AreTheSameWhereverATrainingIsTakenUp) {
  for (const reference::UpdateOptions& options : many_options()) {
    StepScalars scalars = scalars_of(options);
    for (const std::int64_t step : {50, 51, 3, 64, 1})
      EXPECT_THAT(numbers_of(scalars.at(step)),
                  SameBits(numbers_of(reference::update_scalars(options, step))))
          << step;
  }
}

// The first step of Adam goes by the whole learning rate: its corrections undo the means' beginning at 0.
TEST(StepScalars, AdamsCorrectionsFadeAway) {
  StepScalars scalars({.kind = UpdateKind::adam}, {}, 0.001f, {100, 1000});
  EXPECT_FLOAT_EQ(scalars.at(1).learning_rate, 0.001f * std::sqrt(0.001f) / 0.1f);
  EXPECT_FLOAT_EQ(scalars.at(1).eps, 1e-8f * std::sqrt(0.001f));
  EXPECT_EQ(scalars.at(100'000).learning_rate, 0.001f);
  EXPECT_EQ(scalars.at(100'000).eps, 1e-8f);
}

TEST(StepScalars, AScheduleThatDoesNotFitIsRefused) {
  EXPECT_THROW(StepScalars({}, {.kind = ScheduleKind::cosine, .warmup = 10}, 0.1f, {5, 2}), Error);
}

}  // namespace
}  // namespace lockstep::arithmetic
