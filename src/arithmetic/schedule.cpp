#include "arithmetic/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "arithmetic/quarter_sine.h"
#include "base/error.h"

namespace lockstep::arithmetic {
namespace {

struct NamedSchedule {
  ScheduleKind kind;
  std::string_view name;
};
constexpr std::array kSchedules{NamedSchedule{ScheduleKind::constant, "constant"},
                                NamedSchedule{ScheduleKind::step, "step"},
                                NamedSchedule{ScheduleKind::cosine, "cosine"}};

constexpr double kUsualFactor = 0.1;

void expect_taken_by(ScheduleKind taker, ScheduleKind kind, bool asked, const std::string& option) {
  if (asked && kind != taker)
    throw Error(Fault::usage, "{}: the schedule {} takes none; leave it out or choose {}", option,
                name_of(kind), name_of(taker));
}

double power(double factor, std::int64_t exponent) {
  double product = 1;
  for (std::int64_t i = 0; i < exponent; ++i) product = product * factor;
  return product;
}

// The part of the steps after the warm-up that is still to come, this one included.
double part_left(const Schedule& schedule, const TrainingLength& length, std::int64_t step) {
  if (step <= schedule.warmup) return 1;
  return static_cast<double>(length.steps() - step + 1) /
         static_cast<double>(length.steps() - schedule.warmup);
}

double scheduled(const Schedule& schedule, double rate, const TrainingLength& length, std::int64_t step) {
  switch (schedule.kind) {
    case ScheduleKind::constant:
      return rate;
    case ScheduleKind::step:
      return rate * power(schedule.step_factor, (step - 1) / length.steps_per_epoch / schedule.step_epochs);
    case ScheduleKind::cosine: {
      const double sine = quarter_sine(part_left(schedule, length, step));
      return std::fma(rate - schedule.lr_min, sine * sine, schedule.lr_min);
    }
  }
  return rate;
}

}  // namespace

std::string_view name_of(ScheduleKind kind) {
  return std::ranges::find(kSchedules, kind, &NamedSchedule::kind)->name;
}

std::optional<ScheduleKind> schedule_kind_named(std::string_view name) {
  const auto* const found = std::ranges::find(kSchedules, name, &NamedSchedule::name);
  if (found == kSchedules.end()) return std::nullopt;
  return found->kind;
}

std::vector<std::string> schedule_kind_names() {
  std::vector<std::string> names;
  names.reserve(kSchedules.size());
  for (const NamedSchedule& named : kSchedules) names.emplace_back(named.name);
  return names;
}

Schedule resolve(const ScheduleRequest& asked, const OptionName& name) {
  const ScheduleKind kind = asked.kind.value_or(ScheduleKind::constant);
  expect_taken_by(ScheduleKind::step, kind, asked.step_epochs.has_value(), name("step_epochs"));
  expect_taken_by(ScheduleKind::step, kind, asked.step_factor.has_value(), name("step_factor"));
  expect_taken_by(ScheduleKind::cosine, kind, asked.lr_min.has_value(), name("lr_min"));
  const bool steps = kind == ScheduleKind::step;
  Schedule schedule{.kind = kind,
                    .step_epochs = asked.step_epochs.value_or(0),
                    .step_factor = asked.step_factor.value_or(steps ? kUsualFactor : 1),
                    .lr_min = asked.lr_min.value_or(0),
                    .warmup = asked.warmup.value_or(0)};
  if (steps && !asked.step_epochs)
    throw Error(Fault::usage,
                "{}: the schedule step needs it: how many epochs lie between two drops of the rate",
                name("step_epochs"));
  if (steps && schedule.step_epochs < 1)
    throw Error(Fault::usage, "{}: expected at least 1 epoch, found {}", name("step_epochs"),
                schedule.step_epochs);
  const bool factor_is_good = schedule.step_factor > 0 && schedule.step_factor <= 1;  // false for NaN
  if (!factor_is_good)
    throw Error(Fault::usage, "{}: expected a number above 0, at most 1, found {}", name("step_factor"),
                schedule.step_factor);
  if (!std::isfinite(schedule.lr_min) || schedule.lr_min < 0)
    throw Error(Fault::usage, "{}: expected a finite number from 0, found {}", name("lr_min"),
                schedule.lr_min);
  if (schedule.warmup < 0)
    throw Error(Fault::usage, "{}: expected a number of steps from 0, found {}", name("warmup"),
                schedule.warmup);
  return schedule;
}

ScheduleRequest request_for(const Schedule& schedule) {
  ScheduleRequest request{.kind = schedule.kind, .warmup = schedule.warmup};
  if (schedule.kind == ScheduleKind::step) {
    request.step_epochs = schedule.step_epochs;
    request.step_factor = schedule.step_factor;
  }
  if (schedule.kind == ScheduleKind::cosine) request.lr_min = schedule.lr_min;
  return request;
}

void expect_fits(const Schedule& schedule, float learning_rate, const TrainingLength& length) {
  if (schedule.kind != ScheduleKind::cosine) return;
  if (schedule.warmup >= length.steps())
    throw Error(Fault::usage,
                "schedule cosine: expected a warm-up shorter than the training's {} steps, found {}",
                length.steps(), schedule.warmup);
  if (schedule.lr_min > static_cast<double>(learning_rate))
    throw Error(Fault::usage,
                "schedule cosine: expected a least rate of at most the learning rate {}, found {}",
                learning_rate, schedule.lr_min);
}

double rate_at(const Schedule& schedule, float learning_rate, const TrainingLength& length,
               std::int64_t step) {
  const double rate = scheduled(schedule, static_cast<double>(learning_rate), length, step);
  if (step >= schedule.warmup) return rate;
  return rate * (static_cast<double>(step) / static_cast<double>(schedule.warmup));
}

}  // namespace lockstep::arithmetic
