#include "measure/law_bench.h"

#include <gtest/gtest.h>

#include "measure/crew_for_test.h"

namespace lockstep::measure {
namespace {

LawFigure figure_of(int devices) {
  return bench_law({.make_crew = make_crew_for_test,
                    .kernels = cpu::choose_kernels(""),
                    .devices = devices,
                    .pace = {.seconds = 0, .window = 0, .fewest_rounds = 1}});
}

TEST(LawBench, WhereEveryShareIsOneSubtreeTheLawMovesNothingMore) {
  const LawFigure figure = figure_of(2);
  EXPECT_EQ(figure.devices, 2);
  EXPECT_GT(figure.bytes_by_law, 0U);
  EXPECT_EQ(figure.bytes_by_law, figure.bytes_unordered);
  EXPECT_EQ(figure.ratio.median, figure.by_law.median / figure.unordered.median);
}

TEST(LawBench, ThreeDevicesSendMoreByLaw) {
  const LawFigure figure = figure_of(3);
  EXPECT_GT(figure.bytes_by_law, figure.bytes_unordered * 3 / 2);
  EXPECT_GT(figure.unordered.median, 0);
}

}  // namespace
}  // namespace lockstep::measure
