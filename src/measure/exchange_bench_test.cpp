#include "measure/exchange_bench.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "measure/crew_for_test.h"
#include "program/exchange/exchange.h"

namespace lockstep::measure {
namespace {

constexpr Pace kShort{.seconds = 0, .window = 0, .fewest_rounds = 1};

// That every device ends with the sum is checked inside.
TEST(ExchangeBench, MeasuresEveryKindBesideCopying) {
  for (const int devices : {2, 3, 4}) {
    const ExchangeFigures figures = bench_exchange(
        {.make_crew = make_crew_for_test, .elements = 10'007, .devices = devices, .pace = kShort});
    EXPECT_EQ(figures.bytes, 40'028U);
    ASSERT_EQ(figures.kinds.size(), program::exchange::kinds().size());
    for (const ExchangeFigure& kind : figures.kinds) {
      EXPECT_EQ(kind.work.size(), static_cast<std::size_t>(devices)) << kind.kind;
      EXPECT_GT(kind.seconds.median, 0) << kind.kind;
      EXPECT_EQ(kind.against_best.median, kind.seconds.median / figures.kinds[0].seconds.median);
    }
    EXPECT_EQ(figures.kinds[0].formula, 1);
    EXPECT_GT(figures.kinds[1].formula, 1.9) << "star";
    EXPECT_GT(figures.copy_one.median, 0);
    EXPECT_GT(figures.copy_all.median, 0);
  }
}

TEST(ExchangeBench, RatesComeFromTheMedian) {
  const ExchangeFigure figure{.kind = "star", .work = {{}, {.returned = 600}}, .seconds = {1, 1.5, 2, 3}};
  EXPECT_EQ(figure.bytes_per_second(), 300);
  const ExchangeFigures figures{
      .bytes = 100, .devices = 4, .kinds = {}, .copy_one = {1, 1, 4, 5}, .copy_all = {5, 5, 8, 9}};
  EXPECT_EQ(figures.copy_one_bytes_per_second(), 25);
  EXPECT_EQ(figures.copy_all_bytes_per_second(), 50);
}

TEST(ExchangeBench, RefusesWhatThisMachineCannotHold) {
  try {
    bench_exchange({.make_crew = make_crew_for_test, .elements = std::size_t{1} << 44, .pace = kShort});
    FAIL() << "70 TB";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::device);
  }
}

}  // namespace
}  // namespace lockstep::measure
