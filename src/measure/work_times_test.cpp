#include "measure/work_times.h"

#include <gtest/gtest.h>

#include "measure/crew_for_test.h"

namespace lockstep::measure {
namespace {

std::vector<std::string> names_of(const std::vector<WorkTime>& times, bool exchange) {
  std::vector<std::string> names;
  for (const WorkTime& time : times)
    if (time.exchange == exchange) names.push_back(time.name);
  return names;
}

// tests/cli/evidence_test.py sees those of an OpenCL device.
TEST(WorkTimes, HaveEverythingThatAStepDoesOnceInItsOrder) {
  const std::unique_ptr<run::Crew> crew = make_crew_for_test(2, 1);
  const std::vector<WorkTime> times =
      work_times(*crew, {.model = model::mlp(), .examples = 32, .pace = {.seconds = 0, .fewest_rounds = 3}});
  EXPECT_EQ(names_of(times, false),
            (std::vector<std::string>{"prepare", "packs", "check", "update", "look"}));
  EXPECT_FALSE(names_of(times, true).empty());
  for (const WorkTime& time : times) {
    EXPECT_GE(time.seconds.least, 0) << time.name;
    EXPECT_LE(time.seconds.lower_quartile, time.seconds.upper_quartile) << time.name;
  }
}

TEST(WorkTimes, StepsInWhichDriversCompileDoNotCount) {
  const std::unique_ptr<run::Crew> crew = make_crew_for_test(1, 1);
  for (const WorkTime& time :
       work_times(*crew, {.model = model::mlp(), .examples = 32, .pace = {.seconds = 0, .fewest_rounds = 1}}))
    EXPECT_EQ(time.seconds.least, time.seconds.upper_quartile) << time.name << ": there is one sample";
}

}  // namespace
}  // namespace lockstep::measure
