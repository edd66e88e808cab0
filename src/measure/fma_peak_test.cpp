#include "measure/fma_peak.h"

#include <gtest/gtest.h>

namespace lockstep::measure {
namespace {

TEST(FmaPeak, IsTheBestWindowOfAll) {
  FmaPeak peak(cpu::choose_kernels(""));
  EXPECT_EQ(peak.flops_per_second(), 0);
  peak.add_window(100, 2);
  EXPECT_EQ(peak.flops_per_second(), 100);
  peak.add_window(300, 3);
  EXPECT_EQ(peak.flops_per_second(), 200);
  peak.add_window(100, 4);
  EXPECT_EQ(peak.flops_per_second(), 200);
  EXPECT_EQ(peak.median_flops_per_second(), 100);
}

TEST(FmaPeak, WindowsFarApartMeanABusyMachine) {
  FmaPeak peak(cpu::choose_kernels(""));
  for (const double rate : {100, 99, 98, 86, 40}) peak.add_window(rate / 2, 1);
  EXPECT_EQ(peak.figure().best, 100);
  EXPECT_EQ(peak.figure().median, 98);
  EXPECT_EQ(peak.figure().lower_quartile, 86);
  EXPECT_FALSE(peak.figure().busy()) << "one slow window of five is an accident";
  peak.add_window(20, 1);
  EXPECT_EQ(peak.figure().lower_quartile, 51.5);
  EXPECT_TRUE(peak.figure().busy());
  EXPECT_EQ(peak.figure().apart(), 0.485);
}

TEST(FmaPeak, EveryRowOfKernelsHasOne) {
  for (const cpu::Kernels* kernels : cpu::usable_kernels()) {
    FmaPeak peak(*kernels);
    peak.sample();
    EXPECT_GT(peak.flops_per_second(), 0) << kernels->name;
  }
}

}  // namespace
}  // namespace lockstep::measure
