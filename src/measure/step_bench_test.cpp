#include "measure/step_bench.h"

#include <gtest/gtest.h>

#include "measure/crew_for_test.h"

namespace lockstep::measure {
namespace {

TEST(StepBench, GivesAFigureForEachSetting) {
  FmaPeak peak(cpu::choose_kernels(""));
  const std::vector<StepFigure> figures =
      bench_steps({.make_crew = make_crew_for_test,
                   .settings = {{.devices = 3, .threads = 1}, {.devices = 1, .threads = 2}},
                   .examples = 20,
                   .pace = {.seconds = 0, .window = 0, .fewest_rounds = 1}},
                  peak);
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].setting.devices, 3);
  EXPECT_EQ(figures[1].setting.threads, 2);
  for (const StepFigure& figure : figures) {
    EXPECT_EQ(figure.flops, 20 * 10'636'800.0);
    EXPECT_GT(figure.time.seconds.median, 0);
  }
  EXPECT_GT(peak.flops_per_second(), 0) << "the peak is sampled between the windows";
}

TEST(StepBench, DevicesThatShareCoresAreMeasuredAgainstTheCores) {
  EXPECT_EQ((StepSetting{.devices = 16, .threads = 1}.cores_of(2)), 2);
  EXPECT_EQ((StepSetting{.devices = 2, .threads = 2}.cores_of(8)), 4);
}

TEST(StepBench, SharesAndEpochsComeFromTheMedian) {
  const StepFigure figure{.setting = {.devices = 3, .threads = 1},
                          .cores = 2,
                          .flops = 6e9,
                          .time = {{0.25, 0.375, 0.5, 1}, 4e9}};
  EXPECT_EQ(figure.flops_per_second(), 12e9);
  EXPECT_EQ(figure.share(8e9), 0.75);
  EXPECT_EQ(figure.share_then(), 0.75);
  EXPECT_EQ(figure.seconds_per_epoch(), 117.5) << "235 steps of 256 examples";
  EXPECT_EQ((StepFigure{.setting = {}, .time = figure.time, .examples = 128}.steps_per_epoch()), 469);
}

}  // namespace
}  // namespace lockstep::measure
