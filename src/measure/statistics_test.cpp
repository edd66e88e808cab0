#include "measure/statistics.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace lockstep::measure {
namespace {

TEST(Statistics, TheMedianOfAnOddCountIsItsMiddle) { EXPECT_EQ(quantile({5, 1, 9}, 0.5), 5); }

TEST(Statistics, TheMedianOfAnEvenCountLiesBetweenTheTwoInTheMiddle) {
  EXPECT_EQ(quantile({4, 1, 2, 100}, 0.5), 3);
}

TEST(Statistics, TheEndsAreTheExtremes) {
  EXPECT_EQ(quantile({3, -2, 8}, 0), -2);
  EXPECT_EQ(quantile({3, -2, 8}, 1), 8);
}

TEST(Statistics, QuartilesInterpolateBetweenNeighbours) {
  const Spread spread = spread_of({40, 10, 30, 20});
  EXPECT_EQ(spread, (Spread{10, 17.5, 25, 32.5}));
}

TEST(Statistics, OneSampleIsItsOwnSpread) { EXPECT_EQ(spread_of({7}), (Spread{7, 7, 7, 7})); }

TEST(Statistics, RatiosAreTakenTurnByTurn) {
  EXPECT_EQ(ratio_of({2, 9, 4}, {1, 3, 4}), (Spread{1, 1.5, 2, 2.5}));
}

TEST(Statistics, NoSamplesIsADefect) {
  EXPECT_THROW(ratio_of({1}, {1, 2}), Error);
  EXPECT_THROW(quantile({}, 0.5), Error);
  EXPECT_THROW(quantile({1}, 1.5), Error);
}

}  // namespace
}  // namespace lockstep::measure
