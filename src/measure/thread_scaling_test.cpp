#include "measure/thread_scaling.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "measure/core_pinning.h"
#include "measure/cpu_for_test.h"

namespace lockstep::measure {
namespace {

constexpr Pace kShort{.seconds = 0, .window = 0, .fewest_rounds = 1};

TEST(ThreadScaling, ComparesTheTeamWithIndependentRuns) {
  const int cores = static_cast<int>(usable_core_numbers().size());
  const ScalingFigure figure = measure_scaling(
      {.make_device = make_cpu_for_test, .threads = cores < 2 ? 1 : 2, .examples = 32, .pace = kShort});
  EXPECT_GT(figure.independent.median, 0);
  EXPECT_EQ(figure.ratio.median, figure.team.median / figure.independent.median);
}

TEST(ThreadScaling, NeedsACoreForEachThread) {
  const int cores = static_cast<int>(usable_core_numbers().size());
  try {
    measure_scaling({.make_device = make_cpu_for_test, .threads = cores + 1, .examples = 16, .pace = kShort});
    FAIL() << "more threads than cores";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
  }
}

}  // namespace
}  // namespace lockstep::measure
