#include "report/axis.h"

#include <limits>

#include <gtest/gtest.h>

namespace lockstep::report {
namespace {

using Ticks = std::vector<int>;

TEST(EpochTicks, LabelEveryEpochWhereThereIsRoom) {
  EXPECT_EQ(epoch_ticks(1, 10), (Ticks{1}));
  EXPECT_EQ(epoch_ticks(2, 10), (Ticks{1, 2}));
  EXPECT_EQ(epoch_ticks(10, 10), (Ticks{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(EpochTicks, ElseRoundOnesThatDoNotCrowdTheEnds) {
  EXPECT_EQ(epoch_ticks(20, 10), (Ticks{1, 5, 10, 15, 20}));
  EXPECT_EQ(epoch_ticks(21, 10), (Ticks{1, 5, 10, 15, 21}));
  EXPECT_EQ(epoch_ticks(100, 10), (Ticks{1, 20, 40, 60, 80, 100}));
  EXPECT_EQ(epoch_ticks(1000, 3), (Ticks{1, 500, 1000}));
  EXPECT_EQ(epoch_ticks(7, 1), (Ticks{1, 7}));
  EXPECT_EQ(epoch_ticks(1'000'000'000, 3), (Ticks{1, 500'000'000, 1'000'000'000}));
}

TEST(LossAxis, TopIsTheNextRoundNumber) {
  const auto top = [](double loss) {
    const std::vector<train::EpochReport> epochs{{.epoch = 1, .train_loss = loss}};
    return loss_axis_top(epochs);
  };
  EXPECT_EQ(top(0.3), 0.5);
  EXPECT_EQ(top(1.0), 1.0);
  EXPECT_EQ(top(2.303), 2.5);
  EXPECT_EQ(top(2.6), 5.0);
  EXPECT_EQ(top(180), 250.0);
  EXPECT_EQ(top(std::numeric_limits<double>::quiet_NaN()), 0.5);
  EXPECT_EQ(top(std::numeric_limits<double>::infinity()), 0.5);
  EXPECT_EQ(loss_axis_top({}), 0.5);
}

TEST(ValueAxis, TopHoldsTheHighestAndTheLeast) {
  EXPECT_EQ(value_axis_top(3.4, 0.01), 5.0);
  EXPECT_EQ(value_axis_top(5.0, 0.01), 5.0);
  EXPECT_DOUBLE_EQ(value_axis_top(0.03, 0.01), 0.05);
  EXPECT_DOUBLE_EQ(value_axis_top(0.2, 0.01), 0.25);
  EXPECT_DOUBLE_EQ(value_axis_top(0, 0.01), 0.01);
  EXPECT_GE(value_axis_top(std::numeric_limits<double>::infinity(), 0.01), 1e30);
}

TEST(ValueLabel, IsShort) {
  EXPECT_EQ(value_label(1, 4), "0.8");
  EXPECT_EQ(value_label(2.5, 5), "2.5");
  EXPECT_EQ(value_label(2.5, 0), "0.0");
  EXPECT_EQ(value_label(25, 1), "5");
  EXPECT_EQ(value_label(0.05, 2), "0.02");
}

}  // namespace
}  // namespace lockstep::report
