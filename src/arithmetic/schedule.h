// How the learning rate of a job changes from step to step (docs/arithmetic.md, "Update"): a closed set.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arithmetic/option_name.h"

namespace lockstep::arithmetic {

enum class ScheduleKind {
  constant,
  step,    // every few epochs times a factor
  cosine,  // half a period of the cosine, from the learning rate down to the least one
};

struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  int step_epochs = 0;      // of step: epochs between two drops of the rate, at least 1; else 0
  double step_factor = 1;   // of step: the rate is multiplied by it, above 0 and at most 1; else 1
  double lr_min = 0;        // of cosine: the least rate, from 0; else 0
  std::int64_t warmup = 0;  // steps in which the rate grows in equal parts; 0: none

  bool operator==(const Schedule&) const = default;
};

std::string_view name_of(ScheduleKind kind);
// Nothing if there is no such name.
std::optional<ScheduleKind> schedule_kind_named(std::string_view name);
std::vector<std::string> schedule_kind_names();

// What was asked for; nothing: it was not said.
struct ScheduleRequest {
  std::optional<ScheduleKind> kind = {};
  std::optional<int> step_epochs = {};
  std::optional<double> step_factor = {}, lr_min = {};
  std::optional<std::int64_t> warmup = {};
};

// Constant, without warm-up, where nothing is said; a step multiplies by 0.1. Throws Error(usage), which
// names the option, if a number is beyond its limits, missing, or not one that the schedule takes.
Schedule resolve(const ScheduleRequest& asked, const OptionName& name);

// A request that resolves to this schedule.
ScheduleRequest request_for(const Schedule& schedule);

// What a schedule is spread over.
struct TrainingLength {
  std::int64_t steps_per_epoch = 1;
  int epochs = 1;

  std::int64_t steps() const { return steps_per_epoch * epochs; }
};

// Throws Error(usage) if a cosine has no steps left after the warm-up, or begins below its least rate.
void expect_fits(const Schedule& schedule, float learning_rate, const TrainingLength& length);

// Of a step, which counts from 1; the law's, in double. Requires: expect_fits().
double rate_at(const Schedule& schedule, float learning_rate, const TrainingLength& length,
               std::int64_t step);

}  // namespace lockstep::arithmetic
