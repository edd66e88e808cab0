#include "arithmetic/schedule.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/refusal_for_test.h"
#include "base/same_bits_for_test.h"

namespace lockstep::arithmetic {
namespace {

using enum ScheduleKind;

std::string plain(std::string_view option) { return std::string(option); }
Schedule resolved(const ScheduleRequest& asked) { return resolve(asked, plain); }
std::string refusal(const ScheduleRequest& asked) {
  return refusal_of(Fault::usage, [&] { resolved(asked); });
}

constexpr TrainingLength kLength{.steps_per_epoch = 5, .epochs = 4};

TEST(Schedule, WithoutOneTheRateStaysWhatItIs) {
  EXPECT_EQ(resolved({}), Schedule{});
  for (const std::int64_t step : {1, 2, 19, 20, 1000})
    EXPECT_THAT(rate_at({}, 0.2f, kLength, step), SameBits(double{0.2f}));
}

TEST(Schedule, AStepMultipliesEveryFewEpochs) {
  const Schedule schedule = resolved({.kind = step, .step_epochs = 2});
  EXPECT_EQ(schedule.step_factor, 0.1);
  for (std::int64_t s = 1; s <= 20; ++s)
    EXPECT_THAT(rate_at(schedule, 0.5f, kLength, s), SameBits(s <= 10 ? 0.5 : 0.5 * 0.1)) << s;
  EXPECT_THAT(rate_at(schedule, 0.5f, kLength, 21), SameBits(0.5 * (0.1 * 0.1)));
}

TEST(Schedule, ACosineFallsFromTheRateToTheLeast) {
  const Schedule schedule = resolved({.kind = cosine, .lr_min = 0.1});
  for (int s = 1; s <= 20; ++s) {
    const double expected = 0.1 + (0.5 - 0.1) * (1 + std::cos(std::numbers::pi * (s - 1) / 20)) / 2;
    EXPECT_NEAR(rate_at(schedule, 0.5f, kLength, s), expected, 1e-15) << s;
  }
  EXPECT_EQ(static_cast<float>(rate_at(schedule, 0.3f, kLength, 1)), 0.3f);
}

TEST(Schedule, AWarmUpGrowsInEqualParts) {
  for (const Schedule& schedule : {resolved({.warmup = 4}), resolved({.kind = cosine, .warmup = 4})}) {
    EXPECT_THAT(rate_at(schedule, 0.5f, kLength, 1), SameBits(0.125));
    EXPECT_THAT(rate_at(schedule, 0.5f, kLength, 3), SameBits(0.375));
    EXPECT_THAT(rate_at(schedule, 0.5f, kLength, 4), SameBits(0.5));
    EXPECT_THAT(rate_at(schedule, 0.5f, kLength, 5), SameBits(0.5));
  }
  const Schedule schedule = resolved({.kind = cosine, .warmup = 4});
  EXPECT_NEAR(rate_at(schedule, 0.5f, kLength, 13), 0.25, 1e-15) << "half of the 16 steps after the warm-up";
  const Schedule steps = resolved({.kind = step, .step_epochs = 1, .step_factor = 0.5, .warmup = 8});
  EXPECT_THAT(rate_at(steps, 0.5f, kLength, 6), SameBits(0.25 * 0.75)) << "in the second epoch";
}

TEST(Schedule, EveryOneComesBackFromItsRequest) {
  for (const Schedule& schedule :
       {Schedule{}, Schedule{.warmup = 3}, resolved({.kind = step, .step_epochs = 2, .step_factor = 0.3}),
        resolved({.kind = cosine, .lr_min = 0.01, .warmup = 7})})
    EXPECT_EQ(resolved(request_for(schedule)), schedule);
}

TEST(Schedule, WhatItCannotDoIsRefused) {
  EXPECT_EQ(refusal({.kind = step}),
            "step_epochs: the schedule step needs it: how many epochs lie between two drops of the rate");
  EXPECT_EQ(refusal({.kind = step, .step_epochs = 0}), "step_epochs: expected at least 1 epoch, found 0");
  for (const double bad : {0.0, -1.0, 1.5, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(refusal({.kind = step, .step_epochs = 1, .step_factor = bad}),
              fmt::format("step_factor: expected a number above 0, at most 1, found {}", bad));
  for (const double bad :
       {-1e-9, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(refusal({.kind = cosine, .lr_min = bad}),
              fmt::format("lr_min: expected a finite number from 0, found {}", bad));
  EXPECT_EQ(refusal({.warmup = -1}), "warmup: expected a number of steps from 0, found -1");
  EXPECT_EQ(refusal({.step_epochs = 2}),
            "step_epochs: the schedule constant takes none; leave it out or choose step");
  EXPECT_EQ(refusal({.kind = cosine, .step_factor = 0.5}),
            "step_factor: the schedule cosine takes none; leave it out or choose step");
  EXPECT_EQ(refusal({.kind = step, .step_epochs = 1, .lr_min = 0.0}),
            "lr_min: the schedule step takes none; leave it out or choose cosine");
}

TEST(Schedule, ACosineMustFitTheTraining) {
  const auto refusal_to_fit = [](const Schedule& schedule) {
    return refusal_of(Fault::usage, [&] { expect_fits(schedule, 0.5f, kLength); });
  };
  EXPECT_EQ(refusal_to_fit({.kind = cosine, .warmup = 20}),
            "schedule cosine: expected a warm-up shorter than the training's 20 steps, found 20");
  EXPECT_EQ(refusal_to_fit({.kind = cosine, .lr_min = 0.6}),
            "schedule cosine: expected a least rate of at most the learning rate 0.5, found 0.6");
  EXPECT_NO_THROW(expect_fits({.kind = cosine, .lr_min = 0.5, .warmup = 19}, 0.5f, kLength));
  EXPECT_NO_THROW(expect_fits({.warmup = 100}, 0.5f, kLength));
}

TEST(Schedule, IsFoundByItsName) {
  for (const ScheduleKind kind : {constant, step, cosine})
    EXPECT_EQ(schedule_kind_named(name_of(kind)), kind);
  EXPECT_EQ(schedule_kind_named("cosin"), std::nullopt);
  EXPECT_EQ(schedule_kind_names(), (std::vector<std::string>{"constant", "step", "cosine"}));
}

}  // namespace
}  // namespace lockstep::arithmetic
