#include "measure/scaling.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "cpu/cores.h"
#include "measure/crew_for_test.h"

namespace lockstep::measure {
namespace {

constexpr Pace kShort{.seconds = 0, .window = 0, .fewest_rounds = 1};

TEST(Scaling, ComparesThreadsAndDevicesWithIndependentRuns) {
  const int cores = cpu::Cores().count() < 2 ? 1 : 2;
  const ScalingFigure figure = measure_scaling(
      {.make_crew = make_crew_for_test, .cores = cores, .many_devices = 3, .examples = 32, .pace = kShort});
  ASSERT_EQ(figure.settings.size(), 4U);
  for (const ScalingFigure::Setting& setting : figure.settings)
    EXPECT_GT(setting.steps_per_second.median, 0) << setting.name;
  EXPECT_EQ(figure.settings[3].name, "3 devices x 1 thread");

  const auto rate = [&](std::size_t setting) { return figure.settings[setting].steps_per_second.median; };
  ASSERT_EQ(figure.ratios.size(), 4U);
  EXPECT_EQ(figure.ratios[0].spread.median, rate(1) / rate(0));
  EXPECT_EQ(figure.ratios[1].spread.median, rate(2) / rate(0));
  EXPECT_EQ(figure.ratios[2].spread.median, rate(2) / rate(1));
  EXPECT_EQ(figure.ratios[3].spread.median, rate(3) / rate(1));
  EXPECT_EQ(figure.ratios[3].of, figure.settings[3].name);
  EXPECT_EQ(figure.ratios[3].to, figure.settings[1].name);
}

TEST(Scaling, NeedsTheCores) {
  try {
    measure_scaling(
        {.make_crew = make_crew_for_test, .cores = cpu::Cores().count() + 1, .examples = 16, .pace = kShort});
    FAIL() << "more cores than there are";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
  }
}

}  // namespace
}  // namespace lockstep::measure
