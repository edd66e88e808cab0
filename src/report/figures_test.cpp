#include "report/figures.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace lockstep::report {
namespace {

TEST(Figures, GroupsThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(41'200), "41,200");
  EXPECT_EQ(grouped(123'456'789), "123,456,789");
  EXPECT_EQ(grouped(-100), "-100");
  EXPECT_EQ(grouped(-1'000), "-1,000");
}

TEST(Figures, ClockTimeRoundsUp) {
  EXPECT_EQ(clock_time(0), "0:00");
  EXPECT_EQ(clock_time(20.1), "0:21");
  EXPECT_EQ(clock_time(59.5), "1:00");
  EXPECT_EQ(clock_time(725), "12:05");
  EXPECT_EQ(clock_time(3723), "1:02:03");
  EXPECT_EQ(clock_time(-5), "0:00");
  EXPECT_EQ(clock_time(std::numeric_limits<double>::infinity()), "99:59:59");
}

TEST(Figures, JsonNumberIsShortestAndNeverNan) {
  EXPECT_EQ(json_number(0.1f), "0.1");
  EXPECT_EQ(json_number(0.1), "0.1");
  EXPECT_EQ(json_number(static_cast<double>(0.1f)), "0.10000000149011612");
  EXPECT_EQ(json_number(std::nanf("")), "null");
  EXPECT_EQ(json_number(-std::numeric_limits<double>::infinity()), "null");
}

}  // namespace
}  // namespace lockstep::report
